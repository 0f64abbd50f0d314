import { signatureOfParams } from '../../../src/upstream/transaction-signature.ts';
import { Refused, Tally } from '../figures/tally.ts';
import type { SendRequest } from '../ledger-truth.ts';
import { countText } from '../report/count-text.ts';
import { type Outcome, outcomeOf } from '../report/outcome.ts';
import { Traffic } from '../traffic.ts';
import { Pace } from './pace.ts';
import type { Stretch, Surface } from './surface.ts';

const IN_FLIGHT_MAX = 64;
const BLOCKHASH_EVERY_MS = 2_000;

export type SentOptions = Readonly<{
  /** To the service. */
  request: SendRequest;
  perSecond: number;
  /** Lets clients wait for a transaction before it is sent. */
  expect: (signature: string) => Promise<void>;
  /** Signatures in the blocks of a range. */
  landed: (stretch: Stretch) => readonly string[];
}>;

const signatureOf = (wire: string): string =>
  signatureOfParams(Buffer.from(JSON.stringify([wire, { encoding: 'base64' }]))) ?? '';

/** sendTransaction from one payer; every stream receives each transaction. */
export class SentTransactions implements Surface {
  readonly traffic: Traffic;
  readonly #tally = new Tally(
    'Sending transactions',
    'answers',
    'from sending a transaction to its acceptance',
  );
  readonly tallies = [this.#tally];
  /** Times of `performance.now()`. */
  readonly sentAt = new Map<string, number>();
  readonly #accepted: string[] = [];
  readonly #options: SentOptions;
  #refreshing: NodeJS.Timeout | null = null;

  constructor(options: SentOptions) {
    this.#options = options;
    this.traffic = new Traffic(options.request);
  }

  start(): readonly Pace[] {
    this.#refreshing = setInterval(
      () => void this.traffic.refresh().catch((fault: unknown) => this.#tally.fail(fault)),
      BLOCKHASH_EVERY_MS,
    );
    const { perSecond } = this.#options;
    return [
      new Pace({ name: this.#tally.name, perSecond, inFlightMax: IN_FLIGHT_MAX, act: () => this.#send() }),
    ];
  }

  async check(stretch: Stretch): Promise<readonly Outcome[]> {
    this.#stopRefreshing();
    const times = Map.groupBy(this.#options.landed(stretch), (signature) => signature);
    const lost = this.#accepted.filter((signature) => !times.has(signature));
    const twice = this.#accepted.filter((signature) => (times.get(signature)?.length ?? 0) > 1);
    return [
      outcomeOf(
        'Every accepted transaction is in exactly one block',
        `${countText(this.#accepted.length)} accepted, ${lost.length} lost, ${twice.length} twice`,
        [...lost.map((one) => `lost: ${one}`), ...twice.map((one) => `twice: ${one}`)],
      ),
    ];
  }

  close(): void {
    this.#stopRefreshing();
  }

  #stopRefreshing(): void {
    if (this.#refreshing !== null) clearInterval(this.#refreshing);
  }

  async #send(): Promise<void> {
    const wire = await this.traffic.prepareNext(this.#options.expect).catch((fault: unknown) => {
      this.#tally.fail(fault);
      return null;
    });
    if (wire === null) return;
    const signature = signatureOf(wire);
    this.sentAt.set(signature, performance.now());
    await this.#tally.measure(async () => {
      await this.traffic.submit(wire).catch((fault: Error) => {
        throw new Refused(fault.message);
      });
      this.#accepted.push(signature);
    });
  }
}
