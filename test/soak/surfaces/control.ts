import { type ContractName, contract, routeOf } from '../../../src/control/api/contract/contract.ts';
import { Refused, Tally, WrongAnswer } from '../figures/tally.ts';
import type { Outcome } from '../report/outcome.ts';
import type { OperatorSession, SessionAnswer } from './operator-session.ts';
import { Pace } from './pace.ts';
import type { Surface } from './surface.ts';

const IN_FLIGHT_MAX = 16;
const CUSTOMER = 'house';
/** Pages of the dashboard: the same document. */
const PAGES = ['/', '/keys', '/usage', '/logs', '/streams', '/upstreams'];
/** Every nth request, a key is created and revoked. */
const KEY_EACH = 100;

/** GET routes without other parameters than the customer: those of the dashboard's pages. */
function readableRoutes(): ContractName[] {
  return (Object.keys(contract) as ContractName[]).filter((name) => {
    const parameters = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const isJson = routeOf(name).result !== undefined;
    return name.startsWith('GET ') && isJson && parameters.every((one) => one === 'customer');
  });
}

const pathOf = (name: ContractName): string =>
  `/api/v1${name.slice(name.indexOf(' ') + 1).replace('{customer}', CUSTOMER)}`;

/** The control API with a signed-in operator, and the pages of the dashboard. */
export class ControlSurface implements Surface {
  readonly #tally = new Tally(
    'Control API and dashboard',
    'answers',
    'from sending a request to its response',
  );
  readonly tallies = [this.#tally];
  readonly #session: OperatorSession;
  readonly #perSecond: number;
  readonly #routes = readableRoutes();
  #calls = 0;

  constructor(session: OperatorSession, perSecond: number) {
    this.#session = session;
    this.#perSecond = perSecond;
  }

  start(): readonly Pace[] {
    const act = (): Promise<void> => this.#tally.measure(() => this.#request(this.#calls++));
    return [
      new Pace({ name: this.#tally.name, perSecond: this.#perSecond, inFlightMax: IN_FLIGHT_MAX, act }),
    ];
  }

  async check(): Promise<readonly Outcome[]> {
    return [];
  }

  close(): void {
    this.#session.close();
  }

  #request(number: number): Promise<void> {
    if (number % KEY_EACH === KEY_EACH - 1) return this.#makeAndRevokeKey();
    const turn = number % (this.#routes.length + PAGES.length);
    const route = this.#routes[turn];
    return route === undefined ? this.#open(PAGES[turn - this.#routes.length]!) : this.#read(route);
  }

  async #read(name: ContractName): Promise<void> {
    this.#check(name, name, await this.#session.send('GET', pathOf(name)));
  }

  async #open(path: string): Promise<void> {
    const { status, text } = await this.#session.send('GET', path);
    if (status !== 200) throw new Refused(`HTTP ${status}`);
    if (!text.startsWith('<!doctype html>')) throw new WrongAnswer(`${path} got ${text}`);
  }

  async #makeAndRevokeKey(): Promise<void> {
    const name = 'POST /customers/{customer}/keys';
    const body = { product: 'rpc', name: 'soak' };
    const made = this.#check(name, name, await this.#session.send('POST', pathOf(name), body)) as {
      key: { id: string };
    };
    const { id } = made.key;
    const path = `/api/v1/customers/${CUSTOMER}/keys/${id}/revoke`;
    const revoked = await this.#session.send('POST', path);
    const key = this.#check('POST /customers/{customer}/keys/{key}/revoke', path, revoked) as {
      state: string;
    };
    if (key.state !== 'revoked') throw new WrongAnswer(`${path} left the key ${key.state}`);
  }

  /** @returns the response, validated by the contract. */
  #check(name: ContractName, what: string, { status, text }: SessionAnswer): unknown {
    if (status !== 200) throw new Refused(`HTTP ${status} of ${name}`);
    const answer = routeOf(name).result?.safeParse(JSON.parse(text));
    if (answer?.success !== true) throw new WrongAnswer(`${what} got ${text}`);
    return answer.data;
  }
}
