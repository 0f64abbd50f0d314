import type { Address } from '../../../src/ledger/address.ts';
import { commitments } from '../../../src/protocol/commitment.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { GrpcClient } from '../../service/grpc-client.ts';
import { Refused, Tally, WrongAnswer } from '../figures/tally.ts';
import { LedgerHearer } from '../geyser/ledger-hearer.ts';
import { judgeHearer, judgeTruth, untilFinal } from '../geyser/ledger-soak.ts';
import type { Ask } from '../ledger-truth.ts';
import { countText } from '../report/count-text.ts';
import { type Outcome, outcomeOf } from '../report/outcome.ts';
import { type GrpcQuestion, GrpcQuestions } from './grpc-questions.ts';
import { Pace } from './pace.ts';
import type { Stretch, Surface } from './surface.ts';
import { TransactionHearer } from './transaction-hearer.ts';
import { updateSignature } from './update-signature.ts';

const IN_FLIGHT_MAX = 64;

export type GrpcOptions = Readonly<{
  url: string;
  key: string;
  payer: Address;
  /** Past the service. */
  askLedger: Ask;
  callsPerSecond: number;
  /** When a transaction was sent. */
  sentAt: ReadonlyMap<string, number>;
  /** What is owed of a stretch: the signatures that were sent and are in its blocks. */
  owed: (stretch: Stretch) => readonly string[];
}>;

/** Yellowstone gRPC: streams of everything at every commitment, one of whole blocks, one of a payer, and calls. */
export class GrpcSurface implements Surface {
  readonly #calls = new Tally('gRPC calls', 'answers', 'from sending a call to its answer');
  readonly #told = new Tally(
    'gRPC stream',
    'messages',
    'from sending a transaction to hearing of it at processed',
  );
  readonly tallies = [this.#calls, this.#told];
  readonly #options: GrpcOptions;
  readonly #client: GrpcClient;
  readonly #questions = new GrpcQuestions();
  /** At processed: what the others are held against, once it was itself held against the ledger. */
  readonly #truth: LedgerHearer;
  readonly #hearers: readonly LedgerHearer[];
  readonly #ofPayer: TransactionHearer;

  constructor(options: GrpcOptions) {
    const { url, key, payer, sentAt } = options;
    this.#options = options;
    this.#client = new GrpcClient(url);
    const behind = { url, headers: { 'x-token': key } };
    this.#truth = new LedgerHearer({ ...behind, name: 'processed', commitment: 'processed' });
    this.#hearers = [
      ...commitments
        .filter((level) => level !== 'processed')
        .map((commitment) => new LedgerHearer({ ...behind, name: commitment, commitment })),
      new LedgerHearer({ ...behind, name: 'blocks', commitment: 'confirmed', ofBlocks: true }),
    ];
    const transactions = new Map([['payer', { accountInclude: [payer] }]]);
    this.#ofPayer = new TransactionHearer({
      ...{ name: 'the stream of the payer', url, key, method: '/geyser.Geyser/Subscribe', sentAt },
      ...{ request: encodeSubscribeRequest({ transactions }), signatureIn: updateSignature },
      tally: this.#told,
    });
  }

  /** What is open, in words. */
  get held(): string {
    return 'gRPC streams of everything at three commitments, one of whole blocks and one of a payer';
  }

  /** Signatures of what is in the blocks of a stretch, block by block. */
  landed(stretch: Stretch): string[] {
    return this.#slotsOf(stretch).flatMap((slot) => this.#truth.slots.get(slot)?.transactions ?? []);
  }

  begin(): readonly Pace[] {
    const act = (): Promise<void> => this.#calls.measure(() => this.#call(this.#questions.next()));
    const { name } = this.#calls;
    return [new Pace({ name, perSecond: this.#options.callsPerSecond, inFlightMax: IN_FLIGHT_MAX, act })];
  }

  async judge(stretch: Stretch): Promise<readonly Outcome[]> {
    const all = [this.#truth, ...this.#hearers];
    await untilFinal(all, stretch.stopped);
    const slots = this.#slotsOf(stretch);
    const faults = [
      ...(await judgeTruth(this.#truth, slots, this.#options.askLedger)),
      ...all.flatMap((hearer) => judgeHearer(hearer, this.#truth, slots)),
    ];
    const messages = all.reduce((sum, { heard }) => sum + heard, 0);
    const owed = this.#options.owed(stretch);
    const ofPayer = [...this.#ofPayer.faults(), ...this.#ofPayer.missed(owed)];
    return [
      outcomeOf(
        'gRPC streams at every commitment tell each slot, transaction, write and entry once, as the ledger has them',
        `${countText(slots.length)} slots on ${all.length} streams, ${countText(messages)} messages, ${faults.length} faults`,
        faults,
      ),
      outcomeOf(
        'A gRPC stream of one payer tells each of its transactions exactly once',
        `${countText(owed.length)} transactions, ${ofPayer.length} faults`,
        ofPayer,
      ),
    ];
  }

  close(): void {
    for (const hearer of [this.#truth, ...this.#hearers, this.#ofPayer]) hearer.close();
    this.#client.close();
  }

  #slotsOf({ begun, stopped }: Stretch): number[] {
    return this.#truth.order.filter((slot) => slot >= begun && slot <= stopped);
  }

  async #call({ rpc, fault }: GrpcQuestion): Promise<void> {
    const answer = await this.#client.call(this.#options.key, rpc);
    if (!Buffer.isBuffer(answer)) throw new Refused(answer.name || `status ${answer.status}`);
    const wrong = fault(answer);
    if (wrong !== null) throw new WrongAnswer(`${rpc}: ${wrong}`);
  }
}
