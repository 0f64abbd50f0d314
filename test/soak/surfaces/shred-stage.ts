import type { Address } from '../../../src/ledger/address.ts';
import { encodeSubscribeDeshredRequest } from '../../../src/protocol/geyser/subscribe-deshred-request.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { Tally } from '../figures/tally.ts';
import { median } from '../geyser/gauge.ts';
import { type Outcome, outcomeOf } from '../report/outcome.ts';
import type { Pace } from './pace.ts';
import type { Stretch, Surface } from './surface.ts';
import { TransactionHearer } from './transaction-hearer.ts';
import { deshredSignature, updateSignature } from './update-signature.ts';

export type ShredStageOptions = Readonly<{
  /** Of the gRPC door. */
  url: string;
  key: string;
  payer: Address;
  sentAt: ReadonlyMap<string, number>;
  owed: (stretch: Stretch) => readonly string[];
  /** When the standard stream told of each. */
  standardAt: () => ReadonlyMap<string, number>;
}>;

const NOTHING = new Uint8Array();

/** The shred stage in its three dialects. */
export class ShredStageSurface implements Surface {
  readonly #told = new Tally('Shred stage', 'messages', 'from sending a transaction to hearing of it');
  readonly #beside = new Tally(
    'Shred stage, deshred and entries',
    'messages',
    'from sending a transaction to hearing of it',
  );
  readonly tallies = [this.#told, this.#beside];
  readonly #options: ShredStageOptions;
  readonly #standard: TransactionHearer;
  readonly #deshred: TransactionHearer;
  readonly #entries: TransactionHearer;

  constructor(options: ShredStageOptions) {
    this.#options = options;
    const { url, key, sentAt, payer } = options;
    const filter = new Map([['payer', { accountInclude: [payer] }]]);
    const common = { url, key, sentAt };
    this.#standard = new TransactionHearer({
      ...{ ...common, name: 'Subscribe', method: '/geyser.Geyser/Subscribe', tally: this.#told },
      request: encodeSubscribeRequest({ transactions: filter }),
      signatureIn: updateSignature,
    });
    this.#deshred = new TransactionHearer({
      ...{
        ...common,
        name: 'SubscribeDeshred',
        method: '/geyser.Geyser/SubscribeDeshred',
        tally: this.#beside,
      },
      request: encodeSubscribeDeshredRequest({ deshredTransactions: filter }),
      signatureIn: deshredSignature,
    });
    this.#entries = new TransactionHearer({
      ...{ ...common, name: 'SubscribeEntries', method: '/shredstream.ShredstreamProxy/SubscribeEntries' },
      ...{ request: NOTHING, signatureIn: () => null, tally: this.#beside },
    });
  }

  /** What is open, in words. */
  get held(): string {
    return 'the shred stage by Subscribe, SubscribeDeshred and SubscribeEntries';
  }

  begin(): readonly Pace[] {
    return [];
  }

  async judge(stretch: Stretch): Promise<readonly Outcome[]> {
    const owed = this.#options.owed(stretch);
    const faults = [
      ...this.#standard.faults(owed),
      ...this.#deshred.faults(owed),
      // Whole batches, which name no transaction.
      ...this.#entries.faults([]),
    ];
    return [
      outcomeOf(
        'The shred stage tells each transaction exactly once, by Subscribe and by SubscribeDeshred',
        `${owed.length} transactions, ${this.#entries.messages} batches of entries, ${faults.length} faults; ${this.#leadWords(owed)}`,
        faults,
      ),
    ];
  }

  close(): void {
    for (const hearer of [this.#standard, this.#deshred, this.#entries]) hearer.close();
  }

  /** How far ahead it was of the standard stream: no promise, since both are read by a busy client. */
  #leadWords(owed: readonly string[]): string {
    const standardAt = this.#options.standardAt();
    const leads = owed.flatMap((signature) => {
      const [early, late] = [this.#standard.firstAt.get(signature), standardAt.get(signature)];
      return early === undefined || late === undefined ? [] : [late - early];
    });
    const earlier = leads.filter((lead) => lead > 0).length;
    return `${earlier} of ${leads.length} before the standard stream, by ${median(leads).toFixed(1)} ms (median)`;
  }
}
