export type HttpRpcResponse<Result = unknown> = Readonly<{
  status: number;
  headers: Headers;
  text: string;
  body: Readonly<{
    jsonrpc?: string;
    id?: unknown;
    result?: Result;
    error?: Readonly<{ code: number; message: string; data?: Readonly<Record<string, unknown>> }>;
  }>;
}>;

export type TestRpcClient = Readonly<{
  post: (
    body: string | Uint8Array<ArrayBuffer>,
    headers?: Record<string, string>,
  ) => Promise<HttpRpcResponse>;
  call: <Result>(method: string, params?: unknown) => Promise<HttpRpcResponse<Result>>;
  /** @throws Error with the response if it is not a result. */
  result: <Result>(method: string, params?: unknown) => Promise<Result>;
}>;

export function createRpcClient(url: string, key: string): TestRpcClient {
  const post: TestRpcClient['post'] = async (body, headers) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
      body,
    });
    const text = await response.text();
    const parsed = text === '' ? {} : (JSON.parse(text) as HttpRpcResponse['body']);
    return { status: response.status, headers: response.headers, text, body: parsed };
  };
  const call = async <Result>(method: string, params: unknown = []) =>
    (await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))) as HttpRpcResponse<Result>;
  const result = async <Result>(method: string, params?: unknown): Promise<Result> => {
    const { status, text, body } = await call<Result>(method, params);
    if (status !== 200 || body.error !== undefined) throw new Error(`${method} got ${status} ${text}`);
    return body.result as Result;
  };
  return { post, call, result };
}
