import type { Fuzz } from './target.ts';

/** What a target did with one input. `failure` is null unless it threw. */
export type Ran = Readonly<{ accepted: boolean; failure: string | null; ms: number }>;

/** Feeds a target once. */
export async function runInput(fuzz: Fuzz, input: Uint8Array): Promise<Ran> {
  const startedAt = performance.now();
  const ended = (accepted: boolean, failure: string | null): Ran => ({
    accepted,
    failure,
    ms: performance.now() - startedAt,
  });
  try {
    const taken = fuzz(input);
    // Most targets answer at once; a turn of the loop for each input would cost more than they do.
    return ended((taken instanceof Promise ? await taken : taken) === true, null);
  } catch (error) {
    return ended(false, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** What tells one failure from another: where it was thrown, or else what was said, without its figures. */
export function kindOf(failure: string): string {
  const place = /^\s+at .*$/m.exec(failure)?.[0];
  return place?.trim() ?? failure.replaceAll(/\d+/g, '0').slice(0, 200);
}
