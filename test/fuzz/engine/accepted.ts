type ErrorClass = abstract new (...args: never[]) => Error;

/** Whether `read` succeeds; false for one of the expected errors. Others are rethrown. */
export function accepted(read: () => unknown, ...refusals: readonly ErrorClass[]): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return false;
    throw error;
  }
}

/** Like `accepted`, for a promise. */
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
