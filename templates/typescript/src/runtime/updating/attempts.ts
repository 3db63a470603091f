// Attempts to open a version that ended because the user left: these say nothing about the version.

/** Of a platform whose users leave while a model opens. Names are `opening MODEL` and `trying MODEL`. */
export interface Attempts {
  begin(name: string): void;
  end(name: string): void;
  /** Whether the user left during the last attempt of this name. */
  wasLeft(name: string): boolean;
}

/** The number of attempts that ended the app: of those that are counted, the last does not matter if the user left. */
export function fatal(count: number, name: string, attempts: Attempts | undefined): number {
  return count > 0 && attempts?.wasLeft(name) === true ? count - 1 : count;
}
