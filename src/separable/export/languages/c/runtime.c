/* Functions of exported C files.

   c_source.py copies the sections that a model needs. Text outside sections is a small example
   model: with it this file compiles on its own and tests itself (-DSELF_TEST). -DTAKES_NUMBERS
   makes it a model of plain numbers. */

// section includes
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// end of section

#ifdef TAKES_NUMBERS
#define MODEL_N_COLUMNS 2
#define MODEL_N_CLASSES 0
#else
#define MODEL_N_COLUMNS 5
#define MODEL_N_CLASSES 2
#endif
#define MODEL_N_SCORES 1

#ifdef TAKES_NUMBERS
// section number cells
typedef double model_cell;
// end of section
#else
// section values
/* A value of a column: nothing, a number, a boolean, or a text in UTF-8 of `size` bytes. */
typedef enum { MODEL_MISSING, MODEL_NUMBER, MODEL_BOOLEAN, MODEL_TEXT } model_kind;
typedef struct {
    model_kind kind;
    double number;
    const char *text;
    size_t size;
} model_value;

model_value model_missing(void);
model_value model_number(double number);
model_value model_boolean(int is_true);
model_value model_text(const char *text);
model_value model_bytes(const char *text, size_t size);

model_value model_missing(void) {
    model_value value = {MODEL_MISSING, 0, "", 0};
    return value;
}
model_value model_number(double number) {
    model_value value = {MODEL_NUMBER, 0, "", 0};
    value.number = number;
    return value;
}
model_value model_boolean(int is_true) {
    model_value value = {MODEL_BOOLEAN, 0, "", 0};
    value.number = is_true != 0;
    return value;
}
model_value model_bytes(const char *text, size_t size) {
    model_value value = {MODEL_TEXT, 0, "", 0};
    value.text = text;
    value.size = size;
    return value;
}
model_value model_text(const char *text) { return model_bytes(text, strlen(text)); }

typedef model_value model_cell;

static int is_missing(const model_value *value) {
    return value->kind == MODEL_MISSING || (value->kind == MODEL_NUMBER && isnan(value->number));
}
// end of section
#endif

#define HAS_THRESHOLD 0
#define THRESHOLD 0.0
#define SCORE_THRESHOLD 0.0
#define LOWEST 1.0
#define HIGHEST 1e6
#define IS_LOGISTIC 1
#define N_PLACES 6 /* of the numbers; the columns have more */
static const double BASE[1] = {0.0};
static const double WEIGHTS[][1] = {{1.0}, {2.0}, {-1.0}, {0.5}, {0.25}, {0.25}, {0.25}, {0.75}, {0.25},
                                   {1.0}, {0.5}, {-0.5}};
#if MODEL_N_CLASSES > 0
static const double CALIBRATION[1][2] = {{1.0, 0.0}};
#endif

// section put, for number, curve, category, boolean, date, numbers
/* What a row adds to: the scores or, without scores, the features of one column of a pair. */
typedef struct {
    double *scores;
    int n, places[2];
    double values[2];
} sink;

static int put(sink *out, int place, double value) {
    int k;
    if (!isfinite(value)) return 0;
    if (place < 0) return 1;
    if (!out->scores) {
        out->places[out->n] = place;
        out->values[out->n++] = value;
        return 1;
    }
    if (HAS_THRESHOLD) value = (value > THRESHOLD ? 1.0 : 0.0) - (THRESHOLD < 0.0 ? 1.0 : 0.0);
    for (k = 0; k < MODEL_N_SCORES; ++k) out->scores[k] += WEIGHTS[place][k] * value;
    return 1;
}
// end of section

#ifndef TAKES_NUMBERS
// section number text, for number, curve
/* Reads a decimal number; 0 if the text is none. */
static int read_number(const char *text, size_t size, double *number) {
    char copy[512];
    size_t i = 0, digits = 0;
    if (size >= sizeof copy) return 0;
    if (i < size && (text[i] == '+' || text[i] == '-')) ++i;
    for (; i < size && text[i] >= '0' && text[i] <= '9'; ++i) ++digits;
    if (i < size && text[i] == '.')
        for (++i; i < size && text[i] >= '0' && text[i] <= '9'; ++i) ++digits;
    if (digits == 0) return 0;
    if (i < size && (text[i] == 'e' || text[i] == 'E')) {
        size_t start;
        ++i;
        if (i < size && (text[i] == '+' || text[i] == '-')) ++i;
        for (start = i; i < size && text[i] >= '0' && text[i] <= '9';) ++i;
        if (i == start) return 0;
    }
    if (i != size) return 0;
    memcpy(copy, text, size);
    copy[size] = 0;
    *number = strtod(copy, NULL);
    return 1;
}

// section number, for number
typedef struct {
    double mean, scale;
    int value, missing;
} number_step;

static int number_cell(const number_step *step, const model_value *value, sink *out) {
    double number = value->number, scaled;
    if (is_missing(value)) return put(out, step->missing, 1.0);
    if (value->kind == MODEL_TEXT && !read_number(value->text, value->size, &number)) return 0;
    if (!isfinite(number)) return 0;
    scaled = (number - step->mean) / step->scale;
    return step->value < 0 ? 1 : put(out, step->value, scaled);
}

// section curve, for curve
typedef struct {
    const double *breaks;
    const int *indices;
    int n_breaks, linear;
    double period;
    int missing;
} curve_step;

/* Interpolates between the two breaks around a value. */
static int curve_cell(const curve_step *step, const model_value *value, sink *out) {
    const double *breaks = step->breaks;
    double x = value->number, t;
    int left = 0, last = step->n_breaks - 2;
    if (is_missing(value)) return put(out, step->missing, 1.0);
    if (value->kind == MODEL_TEXT && !read_number(value->text, value->size, &x)) return 0;
    if (!isfinite(x)) return 0;
    if (step->n_breaks == 0) return 1;
    if (step->period > 0.0) {
        x = fmod(x, step->period);
        if (x < 0.0) x += step->period;
        if (x >= step->period) x = 0.0;
        if (x < breaks[0]) x += step->period;
    }
    while (left < last) {
        int middle = (left + last + 1) / 2;
        if (breaks[middle] <= x)
            left = middle;
        else
            last = middle - 1;
    }
    t = (x - breaks[left]) / (breaks[left + 1] - breaks[left]);
    if (!step->linear) t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return put(out, step->indices[left], 1.0 - t) && put(out, step->indices[left + 1], t);
}

// section converted, for converted
typedef struct {
    const char *const *missing; /* in lower case */
    int n_missing;
    const char *const *units; /* the longest first */
    int n_units;
    char decimal, group; /* group: 0 for none */
    char order;          /* of dates: 'y', 'd' or 'm' comes first */
    int needs_unit, month_names, twelve_hour, words, magnitudes;
} conversion;

/* Copies a text with ASCII spaces, minus signs and apostrophes, trimmed; 0 if it is too long. */
static int normalized(const model_value *value, char *out, size_t room) {
    static const char *const odd[] = {"\t", "\302\240", "\342\200\211", "\342\200\257", "\342\210\222", "\342\200\223", "\342\200\231"};
    static const char same[] = "    --'";
    size_t at = 0, n = 0, k;
    while (at < value->size) {
        for (k = 0; k < 7; ++k) {
            size_t size = strlen(odd[k]);
            if (value->size - at >= size && memcmp(value->text + at, odd[k], size) == 0) break;
        }
        if (value->text[at] == 0) return 0;
        if (n == 0 && (k < 4 || value->text[at] == ' ')) {
            at += k < 7 ? strlen(odd[k]) : 1;
            continue;
        }
        if (n + 1 >= room) return 0;
        out[n++] = k < 7 ? same[k] : value->text[at];
        at += k < 7 ? strlen(odd[k]) : 1;
    }
    while (n > 0 && out[n - 1] == ' ') --n;
    out[n] = 0;
    return 1;
}

static char lower(char letter) { return (char)(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter); }

static int is_missing_word(const conversion *rules, const char *text) {
    int i;
    for (i = 0; i < rules->n_missing; ++i) {
        const char *a = text, *b = rules->missing[i];
        while (*a && lower(*a) == *b) ++a, ++b;
        if (*a == 0 && *b == 0) return 1;
    }
    return 0;
}

static int is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// section number conversion, for number conversion
static void skip_spaces(const char **at) {
    while (**at == ' ') ++*at;
}

static void sign_at(const char **at, int *signs, int *minus) {
    skip_spaces(at);
    if (**at != '+' && **at != '-') return;
    *minus |= **at == '-';
    ++*signs;
    ++*at;
}

static void unit_at(const conversion *rules, const char **at, int *units) {
    int i;
    skip_spaces(at);
    for (i = 0; i < rules->n_units; ++i) {
        size_t size = strlen(rules->units[i]);
        if (strncmp(*at, rules->units[i], size) == 0) {
            *at += size;
            ++*units;
            return;
        }
    }
}

/* Reads a word after a number that multiplies it, such as 1.2k; the longest first. */
static void magnitude_at(const char **from, char *core, size_t *n) {
    static const char *const words[] = {"thousand", "million", "billion", "Tsd", "Mio", "Mrd", "mn", "bn",
                                        "k",        "K",       "m",       "M",   "B"};
    static const char powers[] = "3693696933669";
    const char *at = *from;
    size_t i;
    skip_spaces(&at);
    for (i = 0; i < sizeof words / sizeof *words; ++i) {
        size_t size = strlen(words[i]);
        if (strncmp(at, words[i], size) == 0) {
            core[(*n)++] = 'e';
            core[(*n)++] = powers[i];
            *from = at + size;
            return;
        }
    }
}

/* Reads the lakhs and crores of India, 1,20,000: groups of two digits, then one of three. */
static void indian_groups(const char **from, char *core, size_t *n, int *whole) {
    const char *at = *from;
    int pairs = 0;
    while (*at == ',' && is_digit(at[1]) && is_digit(at[2]) && at[3] == ',') at += 3, ++pairs;
    if (pairs == 0 || !is_digit(at[1]) || !is_digit(at[2]) || !is_digit(at[3]) || is_digit(at[4])) return;
    for (at += 4; *from < at; ++*from)
        if (**from != ',') core[(*n)++] = **from;
    *whole = 99; /* no more groups */
}

static int read_number_text(const conversion *rules, const char *text, double *number) {
    char core[300];
    const char *at = text;
    int opened = *at == '(', signs = opened, minus = opened, units = 0, whole = 0, part = 0;
    size_t n = 0;
    at += opened;
    sign_at(&at, &signs, &minus);
    unit_at(rules, &at, &units);
    sign_at(&at, &signs, &minus);
    skip_spaces(&at);
    if (is_digit(*at)) {
        int first = *at != '0';
        for (; is_digit(*at); ++at, ++whole) core[n++] = *at;
        if (first && whole <= 2 && rules->group == ',') indian_groups(&at, core, &n, &whole);
        while (first && whole <= 3 && rules->group && *at == rules->group && is_digit(at[1]) && is_digit(at[2]) &&
               is_digit(at[3])) {
            memcpy(core + n, at + 1, 3);
            n += 3, at += 4;
            if (is_digit(*at)) return 0;
        }
    }
    if (*at == rules->decimal) {
        core[n++] = '.';
        for (++at; is_digit(*at); ++at, ++part) core[n++] = *at;
        if (whole && part == 0 && *at == '-') at += 1 + (at[1] == '-'); /* 12.- has no cents */
    }
    if (whole + part == 0) return 0;
    if (*at == 'e' || *at == 'E') {
        const char *power = at + 1;
        power += *power == '+' || *power == '-';
        if (is_digit(*power)) {
            while (is_digit(*power)) ++power;
            memcpy(core + n, at, (size_t)(power - at));
            n += (size_t)(power - at);
            at = power;
        }
    } else if (rules->magnitudes) {
        magnitude_at(&at, core, &n);
    }
    core[n] = 0;
    unit_at(rules, &at, &units);
    sign_at(&at, &signs, &minus);
    skip_spaces(&at);
    if ((*at == ')') != opened) return 0;
    at += opened;
    if (*at != 0 || signs > 1 || units > 1 || (rules->needs_unit && units == 0)) return 0;
    *number = strtod(core, NULL);
    if (minus) *number = -*number;
    return 1;
}

// section digits of texts, for date conversion, duration conversion
/* Reads up to `most` digits and moves on; -1 if there is none. */
static long some_digits(const char **at, int most) {
    long number = 0;
    if (!is_digit(**at)) return -1;
    for (; most > 0 && is_digit(**at); --most, ++*at) number = number * 10 + (**at - '0');
    return number;
}

// section date conversion, for date conversion
static const char *const month_words[] = {"january", "february", "march",     "april",   "may",      "june",
                                          "july",    "august",   "september", "october", "november", "december"};

/* The number of a month from the beginning of its name, 0 for other words. */
static int month_of(const char *name, size_t size) {
    int month, found = 0;
    for (month = 0; month < 12; ++month) {
        size_t i = 0;
        while (i < size && month_words[month][i] && lower(name[i]) == month_words[month][i]) ++i;
        if (i == size || (size == 4 && month == 8 && i == 3 && lower(name[3]) == 't')) {
            if (found) return 0;
            found = month + 1;
        }
    }
    return found;
}

static size_t letters_at(const char *at) {
    size_t n = 0;
    while ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= 'A' && at[n] <= 'Z')) ++n;
    return n;
}

static int one_of(char letter, const char *letters) { return letter != 0 && strchr(letters, letter) != NULL; }

/* Reads the day; the year is -1 if the text has no known form. */
static void day_at(const conversion *rules, const char **from, long *year, long *month, long *day) {
    const char *at = *from, *start = at;
    size_t n = letters_at(at);
    long first, second;
    char sep;
    *year = -1;
    if (rules->month_names && n >= 3 && n <= 9) {
        *month = month_of(at, n);
        at += n;
        at += *at == '.';
        if (*at++ != ' ') return;
        *day = some_digits(&at, 2);
        at += *at == ',';
        if (*day < 0 || *at++ != ' ') return;
        start = at;
        second = some_digits(&at, 4);
        *year = at - start == 4 ? second : -1;
        *from = at;
        return;
    }
    first = some_digits(&at, 4);
    if (at - start == 4) {
        sep = *at;
        if (!one_of(sep, "-/.")) return;
        ++at;
        *month = some_digits(&at, 2);
        if (*month < 0 || *at++ != sep) return;
        *day = some_digits(&at, 2);
        if (*day < 0) return;
        *year = first;
        *from = at;
        return;
    }
    if (first < 0 || at - start > 2) return;
    sep = *at;
    if (rules->order != 'y' && one_of(sep, "-/.") && is_digit(at[1])) {
        ++at;
        second = some_digits(&at, 2);
        if (*at++ != sep) return;
        start = at;
        *year = some_digits(&at, 4);
        if (at - start != 2 && at - start != 4) *year = -1;
        if (at - start == 2) *year += *year < 69 ? 2000 : 1900;
        *month = rules->order == 'd' ? second : first;
        *day = rules->order == 'd' ? first : second;
        *from = at;
        return;
    }
    if (!rules->month_names || !one_of(*at, " .-")) return;
    at += 1 + one_of(at[1], " .-");
    n = letters_at(at);
    if (n < 3 || n > 9) return;
    *month = month_of(at, n);
    *day = first;
    at += n;
    if (!one_of(*at, "., -")) return;
    at += 1 + one_of(at[1], "., -");
    start = at;
    second = some_digits(&at, 4);
    *year = at - start == 4 ? second : -1;
    if (at - start == 2) *year = second + (second < 69 ? 2000 : 1900);
    *from = at;
}

/* Writes a date as people write it as an ISO date; 0 if it is none. */
static int read_date_text(const conversion *rules, const char *text, char *out) {
    const char *at = text, *fraction = "", *zone = "";
    long year, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    int digits = 0, zone_size = 0;
    day_at(rules, &at, &year, &month, &day);
    if (year < 1 || month < 1 || month > 12 || day > 99) return 0;
    if (*at) {
        if (*at == 'T' || *at == ' ')
            ++at;
        else if (at[0] == ',' && at[1] == ' ')
            at += 2;
        else
            return 0;
        hour = some_digits(&at, 2);
        if (hour < 0 || *at++ != ':' || !is_digit(at[0]) || !is_digit(at[1])) return 0;
        minute = some_digits(&at, 2);
        if (*at == ':') {
            ++at;
            if (!is_digit(at[0]) || !is_digit(at[1])) return 0;
            second = some_digits(&at, 2);
            if (*at == '.') {
                fraction = at++;
                for (digits = 1; is_digit(*at); ++at) ++digits;
                if (digits < 2 || digits > 10) return 0;
            }
        }
        if (*at == ' ' && at[1]) ++at;
        if ((lower(*at) == 'a' || lower(*at) == 'p') && lower(at[1]) == 'm') {
            if (!rules->twelve_hour || hour < 1 || hour > 12) return 0;
            hour = hour % 12 + (lower(*at) == 'p' ? 12 : 0);
            at += 2;
            if (*at == ' ' && at[1]) ++at;
        }
        zone = at;
        if (strcmp(at, "UTC") == 0 || strcmp(at, "GMT") == 0) {
            zone = "Z";
            at += 3;
        } else {
            at += strlen(at);
        }
        zone_size = (int)strlen(zone);
        if (zone_size > 6) return 0;
    }
    sprintf(out, "%04ld-%02ld-%02ld %02ld:%02ld:%02ld%.*s%.*s", year, month, day, hour, minute, second, digits,
            fraction, zone_size, zone);
    return 1;
}

// section duration conversion, for duration conversion
static int is_one(const char *at, size_t size, const char *words) {
    /* words: each between commas */
    char word[16];
    if (size == 0 || size > 8) return 0;
    word[0] = ',';
    memcpy(word + 1, at, size);
    word[size + 1] = ',';
    word[size + 2] = 0;
    return strstr(words, word) != NULL;
}

/* Reads the hours of a time of day or of a duration. */
static int read_duration_text(const conversion *rules, const char *text, double *hours) {
    static const char *const words[] = {",d,day,days,", ",h,hr,hrs,hour,hours,", ",m,min,mins,minute,minutes,",
                                        ",s,sec,secs,second,seconds,"};
    static const double sizes[] = {86400.0, 3600.0, 60.0, 1.0};
    const char *at = text, *start;
    double seconds = 0;
    int minus = *at == '-', unit = 0, n = 0;
    long hour;
    at += *at == '+' || *at == '-';
    start = at;
    hour = some_digits(&at, 5);
    if (hour >= 0 && *at == ':') {
        if (at[1] < '0' || at[1] > '5' || !is_digit(at[2])) return 0;
        seconds = ((at[1] - '0') * 10 + (at[2] - '0')) * 60.0;
        at += 3;
        n = 0;
        start = at + 1;
        if (*at == ':') {
            if (at[1] < '0' || at[1] > '5' || !is_digit(at[2])) return 0;
            at += 3;
            if (*at == '.')
                for (++at; is_digit(*at); ++at) ++n;
            if (at[-1] == '.' || n > 9) return 0;
            n = 1;
        }
        if (*at == ' ' && at[1]) ++at;
        if ((lower(*at) == 'a' || lower(*at) == 'p') && lower(at[1]) == 'm') {
            if (!rules->twelve_hour || hour < 1 || hour > 12 || minus) return 0;
            hour = hour % 12 + (lower(*at) == 'p' ? 12 : 0);
            at += 2;
        }
        if (*at) return 0;
        seconds = (double)hour * 3600.0 + seconds + (n ? strtod(start, NULL) : 0.0);
        *hours = (minus ? -seconds : seconds) / 3600.0;
        return 1;
    }
    if (!rules->words) return 0;
    for (at = start; *at; ++n) {
        size_t size = 0;
        double number;
        start = at;
        while (is_digit(*at)) ++at;
        if (at == start) return 0;
        if (*at == '.' && is_digit(at[1]))
            for (++at; is_digit(*at);) ++at;
        number = strtod(start, NULL);
        at += *at == ' ';
        while (at[size] >= 'a' && at[size] <= 'z') ++size;
        while (unit < 4 && !is_one(at, size, words[unit])) ++unit;
        if (unit == 4) return 0;
        seconds += number * sizes[unit++];
        at += size;
        at += *at == ',' || *at == ' ';
        at += *at == ',' || *at == ' ';
    }
    *hours = (minus ? -seconds : seconds) / 3600.0;
    return n > 0;
}

// section level text, for category, boolean
/* Writes a number as the text of a level: the shortest that gives it back, as Python's repr. */
static size_t number_text(double x, char *out) {
    char digits[40];
    int precision, exponent, n, i;
    char *p = out, *e;
    if (isinf(x)) return (size_t)sprintf(out, x > 0 ? "inf" : "-inf");
    if (floor(x) == x && fabs(x) < 9007199254740992.0) return (size_t)sprintf(out, "%.0f", x == 0 ? 0.0 : x);
    for (precision = 0; precision < 17; ++precision) {
        sprintf(digits, "%.*e", precision, fabs(x));
        if (strtod(digits, NULL) == fabs(x)) break;
    }
    e = strchr(digits, 'e');
    exponent = atoi(e + 1);
    *e = 0;
    if (digits[1] == '.') memmove(digits + 1, digits + 2, strlen(digits + 2) + 1);
    n = (int)strlen(digits);
    if (x < 0) *p++ = '-';
    if (exponent >= -4 && exponent < 16) {
        if (exponent < 0) {
            p += sprintf(p, "0.");
            for (i = -1; i > exponent; --i) *p++ = '0';
            p += sprintf(p, "%s", digits);
        } else {
            for (i = 0; i <= exponent || i < n; ++i) {
                if (i == exponent + 1) *p++ = '.';
                *p++ = i < n ? digits[i] : '0';
            }
            if (n <= exponent + 1) p += sprintf(p, ".0");
        }
    } else {
        *p++ = digits[0];
        if (n > 1) p += sprintf(p, ".%s", digits + 1);
        p += sprintf(p, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    }
    *p = 0;
    return (size_t)(p - out);
}

/* The text of a value that is there, in `room` if it has none of its own. */
static const char *level_text(const model_value *value, char *room, size_t *size) {
    if (value->kind == MODEL_TEXT) {
        *size = value->size;
        return value->text;
    }
    if (value->kind == MODEL_BOOLEAN)
        *size = (size_t)sprintf(room, value->number != 0 ? "True" : "False");
    else
        *size = number_text(value->number, room);
    return room;
}

// section category, for category
typedef struct {
    const char *text;
    size_t size;
    int place;
} text_level;
typedef struct {
    double number;
    int place;
} number_level;
typedef struct {
    const text_level *levels; /* sorted by their bytes */
    int n_levels;
    const number_level *numbers;
    int n_numbers, missing, unseen, refuses, refuses_missing, typed;
} category_step;

static int compare(const char *a, size_t n, const char *b, size_t m) {
    int order = memcmp(a, b, n < m ? n : m);
    return order != 0 ? order : n < m ? -1 : n > m;
}

static int category_cell(const category_step *step, const model_value *value, sink *out) {
    char room[64];
    size_t size = 0;
    const char *text;
    int low = 0, high = step->n_levels, i;
    if (is_missing(value)) return step->refuses_missing ? 0 : put(out, step->missing, 1.0);
    if (step->typed && value->kind != MODEL_TEXT) {
        for (i = 0; i < step->n_numbers; ++i)
            if (step->numbers[i].number == value->number) return put(out, step->numbers[i].place, 1.0);
        return step->refuses ? 0 : put(out, step->unseen, 1.0);
    }
    text = level_text(value, room, &size);
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = compare(text, size, step->levels[middle].text, step->levels[middle].size);
        if (order == 0) return put(out, step->levels[middle].place, 1.0);
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return step->refuses ? 0 : put(out, step->unseen, 1.0);
}

// section boolean, for boolean
typedef struct {
    int yes, missing;
} boolean_step;

static int boolean_cell(const boolean_step *step, const model_value *value, sink *out) {
    static const char *const words[] = {"true", "yes", "t", "y", "1", "false", "no", "f", "n", "0"};
    char room[64], word[8];
    size_t size = 0, start = 0, i;
    const char *text;
    if (is_missing(value)) return put(out, step->missing, 1.0);
    text = level_text(value, room, &size);
    while (size > start && (text[size - 1] == ' ' || (text[size - 1] >= 9 && text[size - 1] <= 13))) --size;
    while (start < size && (text[start] == ' ' || (text[start] >= 9 && text[start] <= 13))) ++start;
    if (size - start >= sizeof word) return 0;
    for (i = start; i < size; ++i)
        word[i - start] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
    word[size - start] = 0;
    for (i = 0; i < 10; ++i)
        if (strlen(words[i]) == size - start && memcmp(word, words[i], size - start) == 0)
            return i < 5 ? put(out, step->yes, 1.0) : 1;
    return 0;
}

// section pair, for pair
/* Adds the products of the features of two columns. */
static int add_pair(const sink *first, const sink *second, int start, int width, sink *out) {
    int i, j;
    for (i = 0; i < first->n; ++i)
        for (j = 0; j < second->n; ++j)
            if (!put(out, start + first->places[i] * width + second->places[j],
                     first->values[i] * second->values[j]))
                return 0;
    return 1;
}

// section date, for date
typedef struct {
    int value, place;
} cycle_place;
typedef struct {
    double mean[3], scale[3];
    int place[3]; /* of days, year and day of the month */
    const cycle_place *cycles[3];
    int n_cycles[3]; /* of month, weekday and hour */
    int missing;
} date_step;

/* Reads n digits; -1 if they are not there. */
static int digits(const char *text, size_t size, size_t at, int n) {
    int number = 0;
    for (; n > 0; --n, ++at) {
        if (at >= size || text[at] < '0' || text[at] > '9') return -1;
        number = number * 10 + (text[at] - '0');
    }
    return number;
}

/* Days since 1970-01-01 of a day of the Gregorian calendar, and back. */
static long days_of(int year, int month, int day) {
    long y = month <= 2 ? year - 1L : year, era = y / 400, of_era = y - era * 400;
    long of_year = (153L * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}
static void day_of(long days, int *year, int *month, int *day) {
    long z = days + 719468, era = z / 146097, of_era = z - era * 146097;
    long y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    long of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int)(y + era * 400 + (*month <= 2));
}

static int date_cell(const date_step *step, const model_value *value, sink *out) {
    const char *text = value->text;
    size_t size = value->size, at = 10;
    int year, month, day, y, m, d, hour = 0, minute = 0, second = 0, i, j, parts[3];
    long days, seconds;
    double fraction = 0, unit = 0.1, numbers[3];
    if (is_missing(value)) return put(out, step->missing, 1.0);
    if (value->kind != MODEL_TEXT || size < 10 || text[4] != '-' || text[7] != '-') return 0;
    year = digits(text, size, 0, 4), month = digits(text, size, 5, 2), day = digits(text, size, 8, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1) return 0;
    days = days_of(year, month, day);
    day_of(days, &y, &m, &d);
    if (m != month) return 0; /* such as 31 April */
    seconds = 0;
    if (size > 10) {
        if ((text[10] != 'T' && text[10] != ' ') || size < 16 || text[13] != ':') return 0;
        hour = digits(text, size, 11, 2), minute = digits(text, size, 14, 2);
        at = 16;
        if (at < size && text[at] == ':') {
            second = digits(text, size, 17, 2);
            at = 19;
            if (at < size && text[at] == '.') {
                for (i = 0, ++at; at < size && text[at] >= '0' && text[at] <= '9'; ++at, ++i, unit /= 10)
                    if (i < 6) fraction += unit * (text[at] - '0');
                if (i < 1 || i > 9) return 0;
            }
        }
        if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return 0;
        seconds = hour * 3600L + minute * 60 + second;
        if (at < size && text[at] == 'Z') {
            ++at;
        } else if (at < size && (text[at] == '+' || text[at] == '-')) {
            long sign = text[at] == '+' ? -1 : 1;
            int hours = digits(text, size, at + 1, 2), colon = at + 3 < size && text[at + 3] == ':';
            int minutes = digits(text, size, at + 3 + (size_t)colon, 2);
            if (hours < 0 || minutes < 0 || hours * 60 + minutes >= 1440) return 0;
            seconds += sign * (hours * 3600L + minutes * 60L);
            at += 5 + (size_t)colon;
        }
    }
    if (at != size) return 0;
    if (seconds < 0) seconds += 86400, --days;
    if (seconds >= 86400) seconds -= 86400, ++days;
    day_of(days, &y, &m, &d);
    if (y < 1 || y > 9999) return 0;
    numbers[0] = (double)days + ((double)seconds + fraction) / 86400, numbers[1] = y, numbers[2] = d;
    parts[0] = m - 1, parts[1] = (int)(((days + 3) % 7 + 7) % 7), parts[2] = (int)(seconds / 3600);
    for (i = 0; i < 3; ++i) {
        if (step->place[i] >= 0 && !put(out, step->place[i], (numbers[i] - step->mean[i]) / step->scale[i]))
            return 0;
        for (j = 0; j < step->n_cycles[i]; ++j)
            if (step->cycles[i][j].value == parts[i] && !put(out, step->cycles[i][j].place, 1.0)) return 0;
    }
    return 1;
}

// end of section

static const char *const missing_0[] = {"n/a"};
static const char *const units_0[] = {"EUR"};
static const conversion conversion_0 = {missing_0, 1, units_0, 1, ',', '.', 'd', 0, 1, 1, 1, 0};
static int conversion_checks(void) {
    char text[64], date[64];
    double number = 0, hours = 0;
    model_value value = model_text(" 1.234,5 EUR ");
    return normalized(&value, text, sizeof text) && read_number_text(&conversion_0, text, &number) &&
           number == 1234.5 && read_date_text(&conversion_0, "5 Mar 2024", date) &&
           strcmp(date, "2024-03-05 00:00:00") == 0 && read_duration_text(&conversion_0, "1h 30m", &hours) &&
           hours == 1.5 && is_missing_word(&conversion_0, "N/A");
}
static const number_step step_0 = {40.0, 10.0, 0, -1};
static const text_level levels_1[] = {{"blue", 4, 1}, {"red", 3, 2}};
static const number_level numbers_1[] = {{0, 0}};
static const category_step step_1 = {levels_1, 2, numbers_1, 0, -1, -1, 0, 0, 0};
static const boolean_step step_2 = {3, -1};
static const cycle_place months_3[] = {{0, 5}};
static const date_step step_3 = {
    {18262.0, 0.0, 0.0}, {7.0, 1.0, 1.0}, {4, -1, -1}, {months_3, 0, 0}, {1, 0, 0}, -1};

static const double breaks_4[] = {0.0, 10.0, 20.0};
static const int indices_4[] = {6, 7, 8};
static const curve_step step_4 = {breaks_4, indices_4, 3, 0, 0.0, -1};
static const int indices_0_0[] = {0, 1, 2};
static const curve_step step_0_0 = {breaks_4, indices_0_0, 3, 0, 0.0, -1};
static const boolean_step step_0_1 = {0, -1};

static int encode(const model_cell *row, sink *out) {
    if (!conversion_checks()) return 1;
    if (!number_cell(&step_0, row + 0, out)) return 1;
    if (!category_cell(&step_1, row + 1, out)) return 2;
    if (!boolean_cell(&step_2, row + 2, out)) return 3;
    if (!date_cell(&step_3, row + 3, out)) return 4;
    if (!curve_cell(&step_4, row + 4, out)) return 5;
    {
        sink first = {0, 0, {0, 0}, {0, 0}}, second = {0, 0, {0, 0}, {0, 0}};
        if (!curve_cell(&step_0_0, row + 4, &first)) return 5;
        if (!boolean_cell(&step_0_1, row + 2, &second)) return 3;
        if (!add_pair(&first, &second, 9, 1, out)) return MODEL_N_COLUMNS + 1;
    }
    return 0;
}
#else

static const int STARTS[] = {0, 0, 1, 2, 4, 6, 8};
static const int FACTORS[] = {0, 1, 0, 0, 0, 1, 1, 1};
#define VALUE_AT(place) product(row, place)

// section products
/* The product of the columns of a place. */
static double product(const model_cell *row, int place) {
    double value = 1.0;
    int i;
    for (i = STARTS[place]; i < STARTS[place + 1]; ++i) value *= row[FACTORS[i]];
    return value;
}

// section numbers
static int encode(const model_cell *row, sink *out) {
    int place;
    for (place = 0; place < MODEL_N_COLUMNS; ++place)
        if (!isfinite(row[place])) return place + 1;
    for (place = 0; place < N_PLACES; ++place) {
        double value = VALUE_AT(place);
        if (!put(out, place, value)) return MODEL_N_COLUMNS + 1;
    }
    return 0;
}
// end of section
#endif

// section main
/* Writes the scores of a row, w.x + b: one for two classes, one a class for more. Returns 0, or
   1 + the column whose value cannot be used, or MODEL_N_COLUMNS + 1: a number beyond double. */
int model_scores(const model_cell *row, double *scores);
int model_scores(const model_cell *row, double *scores) {
    sink out = {0, 0, {0, 0}, {0, 0}};
    int k, problem;
    for (k = 0; k < MODEL_N_SCORES; ++k) scores[k] = BASE[k];
    out.scores = scores;
    problem = encode(row, &out);
    if (problem) return problem;
    for (k = 0; k < MODEL_N_SCORES; ++k)
        if (!isfinite(scores[k])) return MODEL_N_COLUMNS + 1;
    return 0;
}

// end of section

#if MODEL_N_CLASSES == 0
// section predicted number
/* Writes the number of a row: exp of its score, from LOWEST to HIGHEST; returns what model_scores
   returns. */
int model_prediction(const model_cell *row, double *number);
int model_prediction(const model_cell *row, double *number) {
    double scores[MODEL_N_SCORES];
    int problem = model_scores(row, scores);
    if (problem) return problem;
    *number = exp(scores[0] > log(HIGHEST) ? log(HIGHEST) : scores[0]);
    *number = *number < LOWEST ? LOWEST : *number > HIGHEST ? HIGHEST : *number;
    return 0;
}
// end of section
#endif

#if MODEL_N_CLASSES > 0
// section predict
/* Writes the place of the class of a row in MODEL_CLASSES; returns what model_scores returns. */
int model_predict(const model_cell *row, int *place);
int model_predict(const model_cell *row, int *place) {
    double scores[MODEL_N_SCORES];
    int k, problem = model_scores(row, scores);
    if (problem) return problem;
    *place = MODEL_N_CLASSES == 2 && scores[0] > SCORE_THRESHOLD;
    for (k = 1; k < MODEL_N_SCORES; ++k)
        if (scores[k] > scores[*place]) *place = k;
    return 0;
}

// section probabilities
/* Writes the probability of each of MODEL_CLASSES; returns what model_scores returns. */
int model_probabilities(const model_cell *row, double *shares);
int model_probabilities(const model_cell *row, double *shares) {
    double s[MODEL_N_SCORES], top, sum = 0;
    int k, problem = model_scores(row, s);
    if (problem) return problem;
    for (k = 0; k < MODEL_N_SCORES; ++k) s[k] = CALIBRATION[k][0] * s[k] + CALIBRATION[k][1];
    if (MODEL_N_CLASSES <= 2) {
        double small = exp(-fabs(s[0]));
        shares[MODEL_N_CLASSES - 1] = (s[0] >= 0 ? 1.0 : small) / (1.0 + small);
        shares[0] = MODEL_N_CLASSES == 1 ? 1.0 : (s[0] >= 0 ? small : 1.0) / (1.0 + small);
        return 0;
    }
    for (k = 0; k < MODEL_N_SCORES; ++k)
        if (IS_LOGISTIC) s[k] = (s[k] < 0 ? s[k] : 0.0) - log1p(exp(-fabs(s[k])));
    for (top = s[0], k = 1; k < MODEL_N_SCORES; ++k) top = s[k] > top ? s[k] : top;
    for (k = 0; k < MODEL_N_SCORES; ++k) sum += shares[k] = exp(s[k] - top);
    for (k = 0; k < MODEL_N_SCORES; ++k) shares[k] /= sum;
    return 0;
}
// end of section
#endif

#ifdef SELF_TEST
#define N_TESTS 1
#define PRECISION 1e-9
#define TEST_ROW(row) TEST_ROWS[row]
#if MODEL_N_CLASSES == 0
static const model_cell TEST_ROWS[][MODEL_N_COLUMNS] = {{2.0, 3.0}};
static const double TEST_SCORES[][1] = {{7.75}};
static const double TEST_SIZES[][1] = {{13.75}};
#else
static const model_cell TEST_ROWS[][MODEL_N_COLUMNS] = {
    {{MODEL_NUMBER, 50.0, "", 0},
     {MODEL_TEXT, 0, "red", 3},
     {MODEL_BOOLEAN, 1, "", 0},
     {MODEL_TEXT, 0, "2020-01-08", 10},
     {MODEL_NUMBER, 15.0, "", 0}}};
static const double TEST_SCORES[][1] = {{1.5}};
static const double TEST_SIZES[][1] = {{3.5}};
static const double TEST_SHARES[][MODEL_N_CLASSES] = {{0.18242552380635635, 0.8175744761936437}};
static const int TEST_CLASSES[] = {1};
#endif

#if MODEL_N_CLASSES == 0
#define TAKES_LOGARITHMS 1
static const double TEST_NUMBERS[] = {2321.572414611034};
#if !TAKES_LOGARITHMS
// section no test classes
static int test_classes(int row) { return row < 0; }
// end of section
#else
// section test numbers
static int test_classes(int row) {
    double number, size = 1 + TEST_SIZES[row][0];
    if (!model_prediction(TEST_ROW(row), &number) &&
        fabs(number - TEST_NUMBERS[row]) <= 2 * PRECISION * size * number)
        return 0;
    return printf("row %d: another number\n", row) > 0;
}
// end of section
#endif
#else
// section test classes
static int test_classes(int row) {
    int place, wrong = 0;
    if (model_predict(TEST_ROW(row), &place) || place != TEST_CLASSES[row])
        ++wrong, printf("row %d: another class\n", row);
    // section test probabilities
    {
        double shares[MODEL_N_CLASSES], size = 1;
        int k;
        for (k = 0; k < MODEL_N_SCORES; ++k) size += TEST_SIZES[row][k];
        model_probabilities(TEST_ROW(row), shares);
        for (k = 0; k < MODEL_N_CLASSES; ++k)
            if (!(fabs(shares[k] - TEST_SHARES[row][k]) <= 1e-9 * size))
                ++wrong,
                    printf("row %d: probability %d is %.17g\n", row, k, shares[k]);
    }
    // section end of test classes
    return wrong;
}
// end of section
#endif

// section self test
int main(void) {
    int row, k, wrong = 0;
    for (row = 0; row < N_TESTS; ++row) {
        double scores[MODEL_N_SCORES];
        int problem = model_scores(TEST_ROW(row), scores);
        if (problem) ++wrong, printf("row %d: problem %d\n", row, problem);
        for (k = 0; k < MODEL_N_SCORES && !problem; ++k)
            if (!(fabs(scores[k] - TEST_SCORES[row][k]) <= PRECISION * TEST_SIZES[row][k]))
                ++wrong, printf("row %d: score %d is %.17g, not %.17g\n", row, k, scores[k], TEST_SCORES[row][k]);
        wrong += problem ? 0 : test_classes(row);
    }
    printf("%d test rows: %s\n", N_TESTS, wrong ? "FAILED" : "all as expected");
    return wrong != 0;
}
// end of section
#endif
