import type { Fuzz } from './target.ts';

/** The result of one input. `failure` is null unless the target threw. */
export type Ran = Readonly<{ accepted: boolean; failure: string | null; ms: number }>;

export async function runInput(fuzz: Fuzz, input: Uint8Array): Promise<Ran> {
  const startedAt = performance.now();
  const ended = (accepted: boolean, failure: string | null): Ran => ({
    accepted,
    failure,
    ms: performance.now() - startedAt,
  });
  try {
    const taken = fuzz(input);
    // Most targets are synchronous; awaiting them would cost more than they do.
    return ended((taken instanceof Promise ? await taken : taken) === true, null);
  } catch (error) {
    return ended(false, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** Identifies a failure: where it was thrown, or else the message without numbers. */
export function kindOf(failure: string): string {
  const place = /^\s+at .*$/m.exec(failure)?.[0];
  return place?.trim() ?? failure.replaceAll(/\d+/g, '0').slice(0, 200);
}
