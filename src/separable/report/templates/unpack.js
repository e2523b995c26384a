"use strict";
// The text of an element: as it stands there, or packed (gzip in base64) to keep the page small.
async function separableText(element) {
  if (element.dataset.packed === undefined) return element.textContent;
  const bytes = Uint8Array.from(atob(element.textContent), (char) => char.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).text();
}
