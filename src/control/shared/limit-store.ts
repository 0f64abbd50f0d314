/**
 * What gateways do with what they share, each as one step that nothing comes between:
 * - `presence`: says that a gateway is there; gives the time (Unix milliseconds) and how many there are.
 * - `leave`: says that it is not any more.
 * - `clock`: nothing; for whoever waits for the time, which comes with the presence.
 * - `rates`, `windows`, `places`, `quotas`: tell what was let through here, and give what was elsewhere.
 * - `floors`: tells what sessions were told here, and gives the most that they were told anywhere.
 *
 * `scripts.ts` says what keys and values of each are.
 */
export type LimitCommandName =
  | 'presence'
  | 'leave'
  | 'clock'
  | 'rates'
  | 'windows'
  | 'places'
  | 'quotas'
  | 'floors';

/** One step. */
export type LimitCommand = Readonly<{
  name: LimitCommandName;
  /** What it is about, one for each name. */
  keys: readonly string[];
  values: readonly (string | number)[];
}>;

/** Where gateways tell each other what they let through. */
export interface LimitStore {
  /** Why nobody can be asked now; null: somebody can. What is told then is taken as heard, so nobody must be told. */
  readonly problem: LimitStoreUnavailableError | null;
  /** Waits until it can be asked, or as long as that may take. Never rejects. */
  start(): Promise<void>;
  /**
   * One exchange.
   * @returns an answer for each step, in their order.
   * @throws what its client throws; then it is not known which steps were done.
   */
  execute(steps: readonly LimitCommand[]): Promise<readonly unknown[]>;
  stop(): Promise<void>;
}

/** Nobody can be asked; `cause` is the last error of a connection. */
export class LimitStoreUnavailableError extends Error {
  constructor(cause: unknown) {
    super('what shares limits is not connected', { cause });
    this.name = 'NotConnected';
  }
}
