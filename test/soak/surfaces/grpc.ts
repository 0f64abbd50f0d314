import { commitments } from '../../../src/protocol/commitment.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import type { Address } from '../../../src/solana/address.ts';
import { GrpcClient } from '../../service/grpc-client.ts';
import { Refused, Tally, WrongAnswer } from '../figures/tally.ts';
import { LedgerListener } from '../geyser/ledger-listener.ts';
import { checkListener, checkTruth, untilFinal } from '../geyser/ledger-soak.ts';
import type { SendRequest } from '../ledger-truth.ts';
import { countText } from '../report/count-text.ts';
import { type Outcome, outcomeOf } from '../report/outcome.ts';
import { type GrpcCall, GrpcCalls } from './grpc-calls.ts';
import { Pace } from './pace.ts';
import type { Stretch, Surface } from './surface.ts';
import { TransactionListener } from './transaction-listener.ts';
import { updateSignature } from './update-signature.ts';

const IN_FLIGHT_MAX = 64;

export type GrpcOptions = Readonly<{
  url: string;
  key: string;
  payer: Address;
  /** To the ledger itself. */
  requestLedger: SendRequest;
  callsPerSecond: number;
  /** When a transaction was sent. */
  sentAt: ReadonlyMap<string, number>;
  /** Sent signatures in the blocks of a range. */
  owed: (stretch: Stretch) => readonly string[];
}>;

/** Yellowstone gRPC: streams of everything at every commitment, one of blocks, one of a payer, and unary calls. */
export class GrpcSurface implements Surface {
  readonly #calls = new Tally('gRPC calls', 'answers', 'from sending a call to its response');
  readonly #received = new Tally(
    'gRPC stream',
    'messages',
    'from sending a transaction to its update at processed',
  );
  readonly tallies = [this.#calls, this.#received];
  readonly #options: GrpcOptions;
  readonly #client: GrpcClient;
  readonly #unaryCalls = new GrpcCalls();
  /** At processed: compared with the ledger; all others are compared with it. */
  readonly #truth: LedgerListener;
  readonly #listeners: readonly LedgerListener[];
  readonly #ofPayer: TransactionListener;

  constructor(options: GrpcOptions) {
    const { url, key, payer, sentAt } = options;
    this.#options = options;
    this.#client = new GrpcClient(url);
    const behind = { url, headers: { 'x-token': key } };
    this.#truth = new LedgerListener({ ...behind, name: 'processed', commitment: 'processed' });
    this.#listeners = [
      ...commitments
        .filter((level) => level !== 'processed')
        .map((commitment) => new LedgerListener({ ...behind, name: commitment, commitment })),
      new LedgerListener({ ...behind, name: 'blocks', commitment: 'confirmed', ofBlocks: true }),
    ];
    const transactions = new Map([['payer', { accountInclude: [payer] }]]);
    this.#ofPayer = new TransactionListener({
      ...{ name: 'the stream of the payer', url, key, method: '/geyser.Geyser/Subscribe', sentAt },
      ...{ request: encodeSubscribeRequest({ transactions }), signatureIn: updateSignature },
      tally: this.#received,
    });
  }

  /** Subscriptions, as text. */
  get held(): string {
    return 'gRPC streams of everything at three commitments, one of whole blocks and one of a payer';
  }

  /** Signatures in the blocks of a range. */
  landed(stretch: Stretch): string[] {
    return this.#slotsOf(stretch).flatMap((slot) => this.#truth.slots.get(slot)?.transactions ?? []);
  }

  start(): readonly Pace[] {
    const act = (): Promise<void> => this.#calls.measure(() => this.#call(this.#unaryCalls.next()));
    const { name } = this.#calls;
    return [new Pace({ name, perSecond: this.#options.callsPerSecond, inFlightMax: IN_FLIGHT_MAX, act })];
  }

  async check(stretch: Stretch): Promise<readonly Outcome[]> {
    const all = [this.#truth, ...this.#listeners];
    await untilFinal(all, stretch.stopped);
    const slots = this.#slotsOf(stretch);
    const faults = [
      ...(await checkTruth(this.#truth, slots, this.#options.requestLedger)),
      ...all.flatMap((listener) => checkListener(listener, this.#truth, slots)),
    ];
    const messages = all.reduce((sum, { received }) => sum + received, 0);
    const owed = this.#options.owed(stretch);
    const ofPayer = [...this.#ofPayer.faults(), ...this.#ofPayer.missed(owed)];
    return [
      outcomeOf(
        'gRPC streams at every commitment send each slot, transaction, write and entry of the ledger once',
        `${countText(slots.length)} slots on ${all.length} streams, ${countText(messages)} messages, ${faults.length} faults`,
        faults,
      ),
      outcomeOf(
        'A gRPC stream of one payer sends each of its transactions exactly once',
        `${countText(owed.length)} transactions, ${ofPayer.length} faults`,
        ofPayer,
      ),
    ];
  }

  close(): void {
    for (const listener of [this.#truth, ...this.#listeners, this.#ofPayer]) listener.close();
    this.#client.close();
  }

  #slotsOf({ started, stopped }: Stretch): number[] {
    return this.#truth.order.filter((slot) => slot >= started && slot <= stopped);
  }

  async #call({ rpc, fault }: GrpcCall): Promise<void> {
    const answer = await this.#client.call(this.#options.key, rpc);
    if (!Buffer.isBuffer(answer)) throw new Refused(answer.name || `status ${answer.status}`);
    const wrong = fault(answer);
    if (wrong !== null) throw new WrongAnswer(`${rpc}: ${wrong}`);
  }
}
