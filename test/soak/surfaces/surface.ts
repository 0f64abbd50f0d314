import { Agent, request } from 'undici';
import type { PaceOptions } from '../../programs/pace.ts';
import type { Outcome } from '../outcomes.ts';
import { Refused, type Tally, WrongAnswer } from '../tally.ts';

export type Stretch = Readonly<{
  started: number;
  stopped: number;
  /** Whether processes had to wait for CPUs. */
  wasStarved: boolean;
}>;

export type Surface = Readonly<{
  tallies: readonly Tally[];
  load?: PaceOptions;
  /** Compares notifications with the ledger after the load. */
  check?: (stretch: Stretch) => Promise<readonly Outcome[]>;
  close: () => void;
}>;

/** Requests in flight per interface, each on its own connection, so that the client queues none. */
export const IN_FLIGHT_MAX = 64;
const TIMEOUT_MS = 60_000;

/** A load whose requests are timed by a tally. @param send - throws on a fault. */
export const measuredLoad = (
  tally: Tally,
  perSecond: number,
  send: () => Promise<void>,
  inFlightMax = IN_FLIGHT_MAX,
): PaceOptions => ({ perSecond, inFlightMax, act: () => tally.measure(send) });

export type HttpAnswer = Readonly<{ status: number; headers: Record<string, unknown>; text: string }>;

export function openHttp() {
  const agent = new Agent({
    ...{ connections: IN_FLIGHT_MAX, pipelining: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS },
  });
  type Init = Omit<NonNullable<Parameters<typeof request>[1]>, 'dispatcher'>;
  return {
    agent,
    async send(url: string, init: Init): Promise<HttpAnswer> {
      const { statusCode, headers, body } = await request(url, { ...init, dispatcher: agent });
      return { status: statusCode, headers, text: await body.text() };
    },
    close: () => void agent.destroy(),
  };
}

export type Check<Code> = Readonly<{
  /** Checks the result. Not called if an error is expected. */
  isTrue: (result: never) => boolean;
  refusedWith?: Code;
}>;

/**
 * Checks a response that contains a result or an error.
 * @param what - describes the request and its response.
 * @throws Refused for an unexpected error; WrongAnswer for a wrong result.
 */
export function checkAnswer<Code>(
  { isTrue, refusedWith }: Check<Code>,
  answer: Readonly<{ result?: unknown; error: Readonly<{ code: Code; name: string }> | null }>,
  what: string,
  tally: Tally,
): void {
  if (answer.error !== null) {
    if (answer.error.code !== refusedWith) throw new Refused(answer.error.name);
    tally.refused++;
    return;
  }
  let isRight = false;
  try {
    isRight = refusedWith === undefined && isTrue(answer.result as never);
  } catch {
    // The result has an unexpected shape.
  }
  if (!isRight) throw new WrongAnswer(what);
}
