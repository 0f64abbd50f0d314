type ErrorClass = abstract new (...args: never[]) => Error;

/** Whether it ends well; false for one of the errors that it may throw. Any other is thrown on. */
export function accepted(read: () => unknown, ...refusals: readonly ErrorClass[]): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return false;
    throw error;
  }
}

/** The same of what ends later. */
export async function acceptedLater(
  read: () => Promise<unknown>,
  ...refusals: readonly ErrorClass[]
): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return false;
    throw error;
  }
}
