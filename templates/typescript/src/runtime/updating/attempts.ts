// Attempts to open a version that ended because the user left: these say nothing about the version.

/** Attempts on a platform whose users leave while a model opens. Names are `opening MODEL` and `trying MODEL`. */
export interface Attempts {
  begin(name: string): void | Promise<void>;
  end(name: string): void | Promise<void>;
  /** Whether the app was left when the last attempt of this name, perhaps in another start of the app, was last heard of. */
  wasLeft(name: string): boolean | Promise<boolean>;
  /** Whether somebody has seen the app all the time since this attempt began. */
  isSeen(name: string): boolean;
}

/** The number of attempts that ended the app: of those that are counted, the last does not matter if the user left. */
export async function fatal(count: number, name: string, attempts: Attempts | undefined): Promise<number> {
  return count > 0 && (await attempts?.wasLeft(name)) === true ? count - 1 : count;
}
