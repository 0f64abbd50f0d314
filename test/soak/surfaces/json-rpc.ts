import { Agent, request } from 'undici';
import { Refused, Tally, WrongAnswer } from '../figures/tally.ts';
import type { Outcome } from '../report/outcome.ts';
import type { FundedWallet } from './funded-wallets.ts';
import { Pace } from './pace.ts';
import { checkRpc, type RpcCallCheck, type RpcReply, rpcCallChecks } from './rpc-calls.ts';
import type { Surface } from './surface.ts';

/** One connection per request: no queue in the client. */
const IN_FLIGHT_MAX = 64;
/** Every nth request is a batch. */
const BATCH_EACH = 10;
const BATCH_CALLS = 5;
const TIMEOUT_MS = 30_000;

export type JsonRpcOptions = Readonly<{
  url: string;
  key: string;
  wallets: readonly FundedWallet[];
  perSecond: number;
}>;

/** POST /v1/rpc: single calls on the fast path, and batches. */
export class JsonRpcSurface implements Surface {
  readonly #tally = new Tally('JSON-RPC over HTTP', 'answers', 'from sending a request to its response');
  readonly tallies = [this.#tally];
  readonly #options: JsonRpcOptions;
  readonly #questions: readonly RpcCallCheck[];
  readonly #agent = new Agent({
    ...{ connections: IN_FLIGHT_MAX, pipelining: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS },
  });
  #calls = 0;
  #requests = 0;

  constructor(options: JsonRpcOptions) {
    this.#options = options;
    this.#questions = rpcCallChecks(options.wallets);
  }

  start(): readonly Pace[] {
    const act = (): Promise<void> =>
      this.#tally.measure(() =>
        ++this.#requests % BATCH_EACH === 0 ? this.#requestBatch() : this.#requestOne(),
      );
    const { name } = this.#tally;
    return [new Pace({ name, perSecond: this.#options.perSecond, inFlightMax: IN_FLIGHT_MAX, act })];
  }

  async check(): Promise<readonly Outcome[]> {
    return [];
  }

  close(): void {
    void this.#agent.destroy();
  }

  /** The next call, with a number or text as id. */
  #next() {
    const number = this.#calls++;
    const question = this.#questions[number % this.#questions.length]!;
    const id = number % 2 === 0 ? number : `call "${number}"`;
    return { question, id, call: { jsonrpc: '2.0', id, method: question.method, params: question.params } };
  }

  async #requestOne(): Promise<void> {
    const { question, id, call } = this.#next();
    checkRpc(question, (await this.#post(call)) as RpcReply, id, this.#tally);
  }

  async #requestBatch(): Promise<void> {
    const requested = Array.from({ length: BATCH_CALLS }, () => this.#next());
    const answers = (await this.#post(requested.map(({ call }) => call))) as readonly RpcReply[];
    if (!Array.isArray(answers) || answers.length !== BATCH_CALLS) {
      throw new WrongAnswer(`a batch of ${BATCH_CALLS} got ${JSON.stringify(answers)}`);
    }
    for (const [at, { question, id }] of requested.entries())
      checkRpc(question, answers[at]!, id, this.#tally);
  }

  async #post(body: unknown): Promise<unknown> {
    const { url, key } = this.#options;
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const answer = await request(url, {
      ...{ method: 'POST', headers, body: JSON.stringify(body), dispatcher: this.#agent },
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Refused(`HTTP ${answer.statusCode}`);
    return JSON.parse(text);
  }
}
