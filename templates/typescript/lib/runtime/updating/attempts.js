// Attempts to open a version that ended because the user left: these say nothing about the version.
/** The number of attempts that ended the app: of those that are counted, the last does not matter if the user left. */
export async function fatal(count, name, attempts) {
    return count > 0 && (await attempts?.wasLeft(name)) === true ? count - 1 : count;
}
