import { type JsonValue, parseJson } from '../../../src/base/json.ts';
import type { Random } from './mutate.ts';

/** @returns whether the input was accepted. Throwing is a finding. */
export type Fuzz = (input: Uint8Array) => boolean | Promise<boolean>;

/** Functions of src/ that read untrusted bytes, with inputs for them. */
export type Target = Readonly<{
  /** Valid inputs, or nearly. */
  seeds: readonly Uint8Array[];
  /** Generates an input with the shape of a valid one, where mutated seeds do not find enough. */
  generate?: (random: Random) => Uint8Array;
  fuzz: Fuzz;
}>;

export type FuzzTarget = Target & Readonly<{ name: string }>;

export const texts = (list: readonly string[]): Uint8Array[] => list.map((text) => Buffer.from(text));

/** A first byte that selects something, and a text. */
export const selecting = (first: number, text: string): Uint8Array =>
  Buffer.from([first, ...Buffer.from(text)]);

export function jsonIn(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

export const inPieces = (bytes: Uint8Array, length: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) =>
    Buffer.from(bytes.subarray(at * length, (at + 1) * length)),
  );

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
