import { Agent, FormData, request } from 'undici';
import { Refused, Tally, WrongAnswer } from '../figures/tally.ts';
import type { Outcome } from '../report/outcome.ts';
import type { FundedWallet } from './funded-wallets.ts';
import { Pace } from './pace.ts';
import { type Envelope, type RestCall, restCalls } from './rest-calls.ts';
import type { Surface } from './surface.ts';

/** One connection per request: no queue in the client. */
const IN_FLIGHT_MAX = 64;
const TIMEOUT_MS = 60_000;
/** Every nth request stores the same file and reads it again. */
const FILE_EACH = 25;
const FILE = new Uint8Array(64 * 1024).map((_, at) => (at * 31) % 251);

export type RestOptions = Readonly<{
  /** Without a path. */
  url: string;
  key: string;
  wallets: readonly FundedWallet[];
  perSecond: number;
}>;

type Reply = Readonly<{ status: number; text: string }>;

/** The REST interface with stored files. */
export class RestSurface implements Surface {
  readonly #tally = new Tally('REST', 'answers', 'from sending a request to its response');
  readonly tallies = [this.#tally];
  readonly #options: RestOptions;
  readonly #calls: readonly RestCall[];
  readonly #agent = new Agent({
    ...{ connections: IN_FLIGHT_MAX, pipelining: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS },
  });
  #requests = 0;
  /** URI of the file: equal contents have equal URIs. */
  #uri: string | null = null;

  constructor(options: RestOptions) {
    this.#options = options;
    this.#calls = restCalls(options.wallets);
  }

  start(): readonly Pace[] {
    const act = (): Promise<void> => {
      const number = this.#requests++;
      return this.#tally.measure(() =>
        number % FILE_EACH === 0 ? this.#storeFile() : this.#request(number),
      );
    };
    const { name } = this.#tally;
    return [new Pace({ name, perSecond: this.#options.perSecond, inFlightMax: IN_FLIGHT_MAX, act })];
  }

  async check(): Promise<readonly Outcome[]> {
    return [];
  }

  close(): void {
    void this.#agent.destroy();
  }

  async #request(number: number): Promise<void> {
    const call = this.#calls[number % this.#calls.length]!;
    const { url } = this.#options;
    const search = new URLSearchParams(call.query);
    const reply = await this.#send(`${url}${call.path}?${search}`, { method: 'GET' });
    this.#check(call, reply);
  }

  #check({ path, refusedWith, isTrue }: RestCall, reply: Reply): void {
    const { error, result } = this.#opened(path, reply);
    const wrong = (): WrongAnswer => new WrongAnswer(`${path} got ${reply.status} ${reply.text}`);
    if (error !== undefined) {
      if (error.code !== refusedWith?.code) throw new Refused(error.code);
      if (reply.status !== refusedWith.status) throw wrong();
      this.#tally.refusedRightly(error.code);
      return;
    }
    if (refusedWith !== undefined || !isTrue(result as never)) throw wrong();
  }

  /** @throws WrongAnswer for an invalid or inconsistent envelope. */
  #opened(path: string, { status, text }: Reply): Envelope {
    const wrong = (): WrongAnswer => new WrongAnswer(`${path} got ${status} ${text}`);
    let envelope: Envelope;
    try {
      envelope = JSON.parse(text);
    } catch {
      throw wrong();
    }
    const { success, message, error } = envelope;
    const isOk = status >= 200 && status < 300;
    const isWhole = success === isOk && typeof message === 'string' && (error === undefined) === isOk;
    if (!isWhole) throw wrong();
    return envelope;
  }

  async #storeFile(): Promise<void> {
    const form = new FormData();
    form.set('file', new Blob([FILE], { type: 'application/octet-stream' }), 'soak.bin');
    const path = '/sol/v1/storage/upload';
    const reply = await this.#send(`${this.#options.url}${path}`, { method: 'POST', body: form });
    const { error, result } = this.#opened(path, reply);
    if (error !== undefined) throw new Refused(error.code);
    const { uri } = result as { uri: string };
    if (uri !== (this.#uri ?? uri)) throw new WrongAnswer(`the same file is in ${this.#uri} and in ${uri}`);
    this.#uri = uri;
    const stored = await request(uri, { dispatcher: this.#agent });
    const bytes = new Uint8Array(await stored.body.arrayBuffer());
    if (Buffer.compare(bytes, FILE) !== 0) throw new WrongAnswer(`${uri} has other bytes than were stored`);
  }

  async #send(url: string, init: { method: 'GET' | 'POST'; body?: FormData }): Promise<Reply> {
    const headers = { 'x-api-key': this.#options.key };
    const answer = await request(url, { ...init, headers, dispatcher: this.#agent });
    return { status: answer.statusCode, text: await answer.body.text() };
  }
}
