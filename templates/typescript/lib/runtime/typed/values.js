// Named numbers of regressions and time series.
/** `numbers` are those of a step, then those of the next. */
export function namedValuesOf(numbers, names, units) {
    const series = names.map((name, index) => {
        return [name, numbers.filter((_, place) => place % names.length === index)];
    });
    return {
        series: Object.fromEntries(series),
        units: Object.fromEntries(names.map((name, index) => [name, units[index] ?? ''])),
        steps: numbers.length / names.length,
    };
}
