import { ArrivalOrder, type Arrivals } from '../../../bench/shreds/arrivals.ts';
import {
  encodeSubscribeDeshredRequest,
  encodeSubscribeRequest,
} from '../../../src/protocol/geyser/subscribe-request.ts';
import type { Address } from '../../../src/solana/address.ts';
import { median } from '../../programs/process-stats.ts';
import { Tally } from '../figures/tally.ts';
import { countText } from '../report/count-text.ts';
import { notEvaluated, type Outcome, outcomeOf } from '../report/outcome.ts';
import type { Pace } from './pace.ts';
import type { Stretch, Surface } from './surface.ts';
import { TransactionListener } from './transaction-listener.ts';
import { deshredSignature, updateSignature } from './update-signature.ts';

export type ShredStageOptions = Readonly<{
  /** Of the gRPC server. */
  url: string;
  key: string;
  payer: Address;
  sentAt: ReadonlyMap<string, number>;
  owed: (stretch: Stretch) => readonly string[];
  /** For the standard stream, for comparison. */
  standardKey: string;
  /** Packets that the kernel dropped before the gateway read them. */
  droppedPackets: () => number;
}>;

const NOTHING = new Uint8Array();

/** The three methods of the shred stage. */
export class ShredStageSurface implements Surface {
  readonly #received = new Tally('Shred stage', 'messages', 'from sending a transaction to its update');
  readonly #beside = new Tally(
    'Shred stage, deshred and entries',
    'messages',
    'from sending a transaction to its update',
  );
  readonly tallies = [this.#received, this.#beside];
  readonly #options: ShredStageOptions;
  readonly #standard: TransactionListener;
  readonly #deshred: TransactionListener;
  readonly #entries: TransactionListener;
  /** Both stages over one connection, where the order of arrival is the order of sending. */
  readonly #order: ArrivalOrder;
  #early: Arrivals = new Map();
  #late: Arrivals = new Map();

  static async open(options: ShredStageOptions): Promise<ShredStageSurface> {
    const surface = new ShredStageSurface(options);
    surface.#late = await surface.#order.open(options.standardKey, options.payer);
    surface.#early = await surface.#order.open(options.key, options.payer);
    return surface;
  }

  private constructor(options: ShredStageOptions) {
    this.#options = options;
    const { url, key, sentAt, payer } = options;
    const filter = new Map([['payer', { accountInclude: [payer] }]]);
    const common = { url, key, sentAt };
    this.#order = new ArrivalOrder(url);
    this.#standard = new TransactionListener({
      ...{ ...common, name: 'Subscribe', method: '/geyser.Geyser/Subscribe', tally: this.#received },
      request: encodeSubscribeRequest({ transactions: filter }),
      signatureIn: updateSignature,
    });
    this.#deshred = new TransactionListener({
      ...{
        ...common,
        name: 'SubscribeDeshred',
        method: '/geyser.Geyser/SubscribeDeshred',
        tally: this.#beside,
      },
      request: encodeSubscribeDeshredRequest({ deshredTransactions: filter }),
      signatureIn: deshredSignature,
    });
    this.#entries = new TransactionListener({
      ...{ ...common, name: 'SubscribeEntries', method: '/shredstream.ShredstreamProxy/SubscribeEntries' },
      ...{ request: NOTHING, signatureIn: () => null, tally: this.#beside },
    });
  }

  /** Subscriptions, as text. */
  get held(): string {
    return 'the shred stage by Subscribe, SubscribeDeshred and SubscribeEntries, and both stages over one connection';
  }

  start(): readonly Pace[] {
    return [];
  }

  async check(stretch: Stretch): Promise<readonly Outcome[]> {
    const owed = this.#options.owed(stretch);
    // Entries arrive in batches without signatures.
    const faults = [this.#standard, this.#deshred, this.#entries].flatMap((listener) => listener.faults());
    const missed = [this.#standard, this.#deshred].flatMap((listener) => listener.missed(owed));
    const dropped = this.#options.droppedPackets();
    const promise =
      'The shred stage sends each transaction exactly once, by Subscribe and by SubscribeDeshred';
    const found = [
      `${countText(owed.length)} transactions, ${countText(this.#entries.messages)} batches of entries`,
      `${missed.length} missed, ${faults.length} other faults`,
      `${countText(dropped)} packets dropped by the kernel; ${this.#leadText()}`,
    ].join(', ');
    // Dropped packets lose transactions.
    const isExcused = missed.length > 0 && faults.length === 0 && dropped > 0 && stretch.wasStarved;
    if (isExcused) return [notEvaluated(promise, `processes were starved; ${found}`)];
    return [outcomeOf(promise, found, [...faults, ...missed])];
  }

  close(): void {
    for (const listener of [this.#standard, this.#deshred, this.#entries]) listener.close();
    this.#order.close();
  }

  /** Lead over the standard stream; not a promise, since a starved gateway receives both at once. */
  #leadText(): string {
    const both = [...this.#late].flatMap(([signature, reported]) => {
      const before = this.#early.get(signature);
      return before === undefined
        ? []
        : [{ ms: reported.at - before.at, isFirst: before.nth < reported.nth }];
    });
    const earlier = both.filter(({ isFirst }) => isFirst).length;
    const lead = median(both.map(({ ms }) => ms)).toFixed(1);
    return `${countText(earlier)} of ${countText(both.length)} before the standard stream, by ${lead} ms (median)`;
  }
}
