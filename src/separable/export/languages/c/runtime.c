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
#define MODEL_N_COLUMNS 4
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
#define IS_LOGISTIC 1
#define N_PLACES 6
static const double BASE[1] = {0.0};
static const double WEIGHTS[][1] = {{1.0}, {2.0}, {-1.0}, {0.5}, {0.25}, {0.25}};
#if MODEL_N_CLASSES > 0
static const double CALIBRATION[1][2] = {{1.0, 0.0}};
#endif

// section put, for number, category, boolean, date, numbers
static int put(double *scores, int place, double value) {
    int k;
    if (!isfinite(value)) return 0;
    if (place < 0) return 1;
    if (HAS_THRESHOLD) value = (value > THRESHOLD ? 1.0 : 0.0) - (THRESHOLD < 0.0 ? 1.0 : 0.0);
    for (k = 0; k < MODEL_N_SCORES; ++k) scores[k] += WEIGHTS[place][k] * value;
    return 1;
}
// end of section

#ifndef TAKES_NUMBERS
// section number, for number
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

typedef struct {
    double mean, scale;
    int value, missing;
} number_step;

static int number_cell(const number_step *step, const model_value *value, double *scores) {
    double number = value->number, scaled;
    if (is_missing(value)) return put(scores, step->missing, 1.0);
    if (value->kind == MODEL_TEXT && !read_number(value->text, value->size, &number)) return 0;
    if (!isfinite(number)) return 0;
    scaled = (number - step->mean) / step->scale;
    return step->value < 0 ? 1 : put(scores, step->value, scaled);
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

static int category_cell(const category_step *step, const model_value *value, double *scores) {
    char room[64];
    size_t size = 0;
    const char *text;
    int low = 0, high = step->n_levels, i;
    if (is_missing(value)) return step->refuses_missing ? 0 : put(scores, step->missing, 1.0);
    if (step->typed && value->kind != MODEL_TEXT) {
        for (i = 0; i < step->n_numbers; ++i)
            if (step->numbers[i].number == value->number) return put(scores, step->numbers[i].place, 1.0);
        return step->refuses ? 0 : put(scores, step->unseen, 1.0);
    }
    text = level_text(value, room, &size);
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = compare(text, size, step->levels[middle].text, step->levels[middle].size);
        if (order == 0) return put(scores, step->levels[middle].place, 1.0);
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return step->refuses ? 0 : put(scores, step->unseen, 1.0);
}

// section boolean, for boolean
typedef struct {
    int yes, missing;
} boolean_step;

static int boolean_cell(const boolean_step *step, const model_value *value, double *scores) {
    static const char *const words[] = {"true", "yes", "t", "y", "1", "false", "no", "f", "n", "0"};
    char room[64], word[8];
    size_t size = 0, start = 0, i;
    const char *text;
    if (is_missing(value)) return put(scores, step->missing, 1.0);
    text = level_text(value, room, &size);
    while (size > start && (text[size - 1] == ' ' || (text[size - 1] >= 9 && text[size - 1] <= 13))) --size;
    while (start < size && (text[start] == ' ' || (text[start] >= 9 && text[start] <= 13))) ++start;
    if (size - start >= sizeof word) return 0;
    for (i = start; i < size; ++i)
        word[i - start] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
    word[size - start] = 0;
    for (i = 0; i < 10; ++i)
        if (strlen(words[i]) == size - start && memcmp(word, words[i], size - start) == 0)
            return i < 5 ? put(scores, step->yes, 1.0) : 1;
    return 0;
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

static int date_cell(const date_step *step, const model_value *value, double *scores) {
    const char *text = value->text;
    size_t size = value->size, at = 10;
    int year, month, day, y, m, d, hour = 0, minute = 0, second = 0, i, j, parts[3];
    long days, seconds;
    double fraction = 0, unit = 0.1, numbers[3];
    if (is_missing(value)) return put(scores, step->missing, 1.0);
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
        if (step->place[i] >= 0 && !put(scores, step->place[i], (numbers[i] - step->mean[i]) / step->scale[i]))
            return 0;
        for (j = 0; j < step->n_cycles[i]; ++j)
            if (step->cycles[i][j].value == parts[i] && !put(scores, step->cycles[i][j].place, 1.0)) return 0;
    }
    return 1;
}

// end of section

static const number_step step_0 = {40.0, 10.0, 0, -1};
static const text_level levels_1[] = {{"blue", 4, 1}, {"red", 3, 2}};
static const number_level numbers_1[] = {{0, 0}};
static const category_step step_1 = {levels_1, 2, numbers_1, 0, -1, -1, 0, 0, 0};
static const boolean_step step_2 = {3, -1};
static const cycle_place months_3[] = {{0, 5}};
static const date_step step_3 = {
    {18262.0, 0.0, 0.0}, {7.0, 1.0, 1.0}, {4, -1, -1}, {months_3, 0, 0}, {1, 0, 0}, -1};

static int encode(const model_cell *row, double *scores) {
    if (!number_cell(&step_0, row + 0, scores)) return 1;
    if (!category_cell(&step_1, row + 1, scores)) return 2;
    if (!boolean_cell(&step_2, row + 2, scores)) return 3;
    if (!date_cell(&step_3, row + 3, scores)) return 4;
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
static int encode(const model_cell *row, double *scores) {
    int place;
    for (place = 0; place < MODEL_N_COLUMNS; ++place)
        if (!isfinite(row[place])) return place + 1;
    for (place = 0; place < N_PLACES; ++place) {
        double value = VALUE_AT(place);
        if (!put(scores, place, value)) return MODEL_N_COLUMNS + 1;
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
    int k, problem;
    for (k = 0; k < MODEL_N_SCORES; ++k) scores[k] = BASE[k];
    problem = encode(row, scores);
    if (problem) return problem;
    for (k = 0; k < MODEL_N_SCORES; ++k)
        if (!isfinite(scores[k])) return MODEL_N_COLUMNS + 1;
    return 0;
}

// end of section

#if MODEL_N_CLASSES > 0
// section predict
/* Writes the place of the class of a row in MODEL_CLASSES; returns what model_scores returns. */
int model_predict(const model_cell *row, int *place);
int model_predict(const model_cell *row, int *place) {
    double scores[MODEL_N_SCORES];
    int k, problem = model_scores(row, scores);
    if (problem) return problem;
    *place = MODEL_N_CLASSES == 2 && scores[0] > 0;
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
     {MODEL_TEXT, 0, "2020-01-08", 10}}};
static const double TEST_SCORES[][1] = {{1.0}};
static const double TEST_SIZES[][1] = {{3.0}};
static const double TEST_SHARES[][MODEL_N_CLASSES] = {{0.2689414213699951, 0.7310585786300049}};
static const int TEST_CLASSES[] = {1};
#endif

#if MODEL_N_CLASSES == 0
// section no test classes
static int test_classes(int row) { return row < 0; }
// end of section
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
