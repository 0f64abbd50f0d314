import { Agent, request } from 'undici';

const OPERATOR = { name: 'Olga Operator', email: 'olga@example.com', password: 'a quiet harbour at noon' };
const CONNECTIONS = 8;
const TIMEOUT_MS = 30_000;

/** A response with its body as text. */
export type SessionAnswer = Readonly<{ status: number; text: string }>;

/** A signed-in operator: with the cookie, and the header of the service's own pages. */
export class OperatorSession {
  readonly #url: string;
  readonly #agent = new Agent({
    ...{ connections: CONNECTIONS, pipelining: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS },
  });
  #cookie = '';

  /** Creates the operator's account with the link of the first start. */
  static async open(url: string, setupUrl: string): Promise<OperatorSession> {
    const session = new OperatorSession(url);
    const [, invitation] = setupUrl.split('#token=');
    await session.#must('/api/auth/sign-up/email', { ...OPERATOR, invitation });
    await session.#must('/api/v1/invitations/accept', { token: invitation });
    return session;
  }

  private constructor(url: string) {
    this.#url = url;
  }

  /** @param path - such as `/api/v1/me`. */
  async send(method: 'GET' | 'POST', path: string, body?: object): Promise<SessionAnswer> {
    const headers: Record<string, string> = { cookie: this.#cookie };
    if (method === 'POST') Object.assign(headers, { origin: this.#url, 'x-solway': '1' });
    if (body !== undefined) headers['content-type'] = 'application/json';
    const answer = await request(this.#url + path, {
      ...{ method, headers, dispatcher: this.#agent },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const set = [answer.headers['set-cookie'] ?? []].flat().find((one) => one.includes('session_token='));
    if (set !== undefined) this.#cookie = set.split(';')[0] ?? '';
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  close(): void {
    void this.#agent.destroy();
  }

  async #must(path: string, body: object): Promise<void> {
    const { status, text } = await this.send('POST', path, body);
    if (status !== 200) throw new Error(`${path} got ${status} ${text}`);
  }
}
