import { type ContractName, contract, routeOf } from '../../../src/control/api/contract/contract.ts';
import { Refused, Tally, WrongAnswer } from '../tally.ts';
import { measuredLoad, openHttp, type Surface } from './surface.ts';

const IN_FLIGHT_MAX = 16;
const CUSTOMER = 'house';
const OPERATOR = { name: 'Olga Operator', email: 'olga@example.com', password: 'a quiet harbour at noon' };
/** Dashboard pages, all served as the same document. */
const PAGES = ['/', '/keys', '/usage', '/logs', '/streams', '/upstreams'];
/** Every nth request creates and revokes a key. */
const KEY_EACH = 100;

/** GET routes without parameters except the customer, as used by the dashboard. */
const readableRoutes = (Object.keys(contract) as ContractName[]).filter((name) => {
  const parameters = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
  const isJson = routeOf(name).result !== undefined;
  return name.startsWith('GET ') && isJson && parameters.every((one) => one === 'customer');
});

const pathOf = (name: ContractName): string =>
  `/api/v1${name.slice(name.indexOf(' ') + 1).replace('{customer}', CUSTOMER)}`;

/**
 * The control API with a signed-in operator, and the dashboard pages.
 * @param setupUrl - setup link of the first start, which creates the operator's account.
 */
export async function controlSurface(url: string, setupUrl: string, perSecond: number): Promise<Surface> {
  const tally = new Tally('Control API and dashboard', 'answers');
  const http = openHttp();
  let cookie = '';
  let requests = 0;

  /** Sends the cookie, and the headers that the dashboard sends. @returns the body if successful. */
  const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<string> => {
    const headers: Record<string, string> = { cookie };
    if (method === 'POST') Object.assign(headers, { origin: url, 'x-solway': '1' });
    if (body !== undefined) headers['content-type'] = 'application/json';
    const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
    const answer = await http.send(url + path, init);
    const set = [answer.headers['set-cookie'] ?? []]
      .flat()
      .find((one) => String(one).includes('session_token='));
    if (set !== undefined) cookie = String(set).split(';')[0] ?? '';
    if (answer.status !== 200) throw new Refused(`HTTP ${answer.status} of ${method} ${path}`);
    return answer.text;
  };
  /** @returns the response, validated against the contract. */
  const validated = (name: ContractName, text: string): unknown => {
    const answer = routeOf(name).result?.safeParse(JSON.parse(text));
    if (answer?.success !== true) throw new WrongAnswer(`${name} got ${text}`);
    return answer.data;
  };
  const makeAndRevokeKey = async (): Promise<void> => {
    const name = 'POST /customers/{customer}/keys';
    const made = validated(name, await call('POST', pathOf(name), { product: 'rpc', name: 'soak' }));
    const { id } = (made as { key: { id: string } }).key;
    const path = `/api/v1/customers/${CUSTOMER}/keys/${id}/revoke`;
    const key = validated('POST /customers/{customer}/keys/{key}/revoke', await call('POST', path));
    const { state } = key as { state: string };
    if (state !== 'revoked') throw new WrongAnswer(`${path} left the key ${state}`);
  };
  const send = async (): Promise<void> => {
    const number = requests++;
    if (number % KEY_EACH === KEY_EACH - 1) return makeAndRevokeKey();
    const turn = number % (readableRoutes.length + PAGES.length);
    const route = readableRoutes[turn];
    if (route !== undefined) return void validated(route, await call('GET', pathOf(route)));
    const page = PAGES[turn - readableRoutes.length]!;
    const text = await call('GET', page);
    if (!text.startsWith('<!doctype html>')) throw new WrongAnswer(`${page} got ${text}`);
  };

  const [, invitation] = setupUrl.split('#token=');
  await call('POST', '/api/auth/sign-up/email', { ...OPERATOR, invitation });
  await call('POST', '/api/v1/invitations/accept', { token: invitation });
  const load = measuredLoad(tally, perSecond, send, IN_FLIGHT_MAX);
  return { tallies: [tally], load, close: http.close };
}
