import { unlessAborted } from '../../../src/base/concurrency/unless-aborted.ts';
import { SocketClient } from '../../service/socket-client.ts';
import { Tally } from '../figures/tally.ts';
import { KitClient } from '../kit-client.ts';
import { describeFaults, isFaulty, LedgerTruth, type SendRequest, type Watched } from '../ledger-truth.ts';
import { countText } from '../report/count-text.ts';
import { type Outcome, outcomeOf } from '../report/outcome.ts';
import { Web3jsClient } from '../web3js-client.ts';
import { WireClient } from '../wire-client.ts';
import type { FundedWallet } from './funded-wallets.ts';
import { Pace } from './pace.ts';
import { checkRpc, type RpcCallCheck, type RpcReply, rpcCallChecks } from './rpc-calls.ts';
import { SlotListener } from './slot-listener.ts';
import type { Stretch, Surface } from './surface.ts';

const IN_FLIGHT_MAX = 64;
const CALL_MAX_MS = 30_000;
/** How long clients may still receive notifications at the end. */
const QUIET_MS = 30_000;

export type WebSocketOptions = Readonly<{
  /** With the key. */
  url: string;
  rpcUrl: string;
  /** To the ledger itself. */
  requestLedger: SendRequest;
  watched: Watched;
  wallets: readonly FundedWallet[];
  /** Sockets that subscribe to slots. */
  listeners: number;
  callsPerSecond: number;
  /** When a transaction was sent. */
  sentAt: ReadonlyMap<string, number>;
  /** Expected signatures, and final states of accounts. */
  waitedFor: readonly string[];
  states: () => Promise<ReadonlyMap<string, string>>;
}>;

type Clients = Readonly<{ wire: WireClient; kit: KitClient; web3js: Web3jsClient }>;

/** GET /v1/ws: published clients and a plain one that subscribe to everything, many that subscribe to slots, and calls. */
export class WebSocketSurface implements Surface {
  readonly #calls = new Tally('WebSocket calls', 'answers', 'from sending a call to its response');
  readonly #received = new Tally(
    'WebSocket notifications',
    'messages',
    'from sending a transaction to its logs at processed',
  );
  readonly tallies = [this.#calls, this.#received];
  readonly #options: WebSocketOptions;
  readonly #clients: Clients;
  readonly #socket: SocketClient;
  readonly #questions: readonly RpcCallCheck[];
  readonly #listeners: SlotListener[] = [];
  #sentCalls = 0;

  static async open(options: WebSocketOptions): Promise<WebSocketSurface> {
    const { url, rpcUrl, watched, listeners } = options;
    const clients = {
      wire: await WireClient.open(url, watched),
      kit: await KitClient.open(url, watched),
      web3js: new Web3jsClient(rpcUrl, url, watched),
    };
    const surface = new WebSocketSurface(options, clients, await SocketClient.open(url));
    for (let number = 1; number <= listeners; number++) {
      surface.#listeners.push(
        await SlotListener.open(`listener ${number}`, url, () => surface.#received.came()),
      );
    }
    await surface.#subscribeLogs();
    return surface;
  }

  private constructor(options: WebSocketOptions, clients: Clients, socket: SocketClient) {
    this.#options = options;
    this.#clients = clients;
    this.#socket = socket;
    this.#questions = rpcCallChecks(options.wallets);
  }

  /** Subscriptions, as text. */
  get held(): string {
    const published = '@solana/kit, @solana/web3.js and a plain client with every subscription they offer';
    return `${published}, ${this.#listeners.length} sockets that subscribe to slots, one that subscribes to logs and sends calls`;
  }

  /** Lets every client wait for a transaction. */
  async expect(signature: string): Promise<void> {
    const { wire, kit, web3js } = this.#clients;
    web3js.expect(signature);
    await Promise.all([wire.expect(signature), kit.expect(signature)]);
  }

  start(): readonly Pace[] {
    const act = (): Promise<void> => this.#calls.measure(() => this.#call());
    const { name } = this.#calls;
    return [new Pace({ name, perSecond: this.#options.callsPerSecond, inFlightMax: IN_FLIGHT_MAX, act })];
  }

  async check(stretch: Stretch): Promise<readonly Outcome[]> {
    return [await this.#checkClients(stretch), this.#checkListeners()];
  }

  close(): void {
    for (const client of Object.values(this.#clients)) client.close();
    for (const listener of this.#listeners) listener.close();
    this.#socket.socket.terminate();
  }

  async #call(): Promise<void> {
    const id = `call ${this.#sentCalls}`;
    const question = this.#questions[this.#sentCalls++ % this.#questions.length]!;
    const answer = this.#socket.call(question.method, question.params);
    const { id: _number, ...rest } = await unlessAborted(answer, AbortSignal.timeout(CALL_MAX_MS));
    // The client has matched the id.
    checkRpc(question, { ...rest, id } as RpcReply, id, this.#calls);
  }

  async #subscribeLogs(): Promise<void> {
    const { account } = this.#options.watched;
    const filter = [{ mentions: [account] }, { commitment: 'processed' }];
    const id = await this.#socket.result<number>('logsSubscribe', filter);
    void this.#followLogs(id);
  }

  async #followLogs(id: number): Promise<never> {
    for (;;) {
      const { result } = await this.#socket.next<{ value: { signature: string } }>(id);
      const sentAt = this.#options.sentAt.get(result.value.signature);
      if (sentAt === undefined) this.#received.came();
      else this.#received.took(performance.now() - sentAt);
    }
  }

  async #checkClients({ started, stopped }: Stretch): Promise<Outcome> {
    const { requestLedger, watched, waitedFor } = this.#options;
    const truth = new LedgerTruth(requestLedger, watched);
    await truth.read(started, stopped);
    const states = await this.#options.states();
    const incoming = Object.values(this.#clients).flatMap((client) => client.received);
    const verdicts = await truth.checkAll(incoming, waitedFor, states, QUIET_MS);
    const sum = (member: 'missed' | 'doubled' | 'odd'): number =>
      verdicts.reduce((all, verdict) => all + verdict[member].length, 0);
    const count = verdicts.reduce((all, verdict) => all + verdict.received, 0);
    return outcomeOf(
      '@solana/kit, @solana/web3.js and a plain client miss nothing, receive nothing twice, and no slot decreases',
      `${countText(count)} notifications of ${verdicts.length} subscriptions: ${sum('missed')} missed, ${sum('doubled')} twice, ${sum('odd')} odd`,
      verdicts.filter(isFaulty).map(describeFaults),
    );
  }

  #checkListeners(): Outcome {
    const faults = this.#listeners.flatMap((listener) => listener.faults);
    const silent = this.#listeners.filter(({ received }) => received === 0).length;
    const incoming = this.#listeners.reduce((sum, listener) => sum + listener.received, 0);
    return outcomeOf(
      'Sockets stay open and receive every slot',
      `${this.#listeners.length} sockets, ${countText(incoming)} slots, ${faults.length} faults`,
      silent === 0 ? faults : [...faults, `${silent} sockets received nothing`],
    );
  }
}
