import { expect } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';

/** What a call failed with. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Failure);
  return error as Failure;
}
