import { answer, type Methods } from '../../packages/localnet/src/http/handle-request.ts';
import { decideCors } from '../../packages/localnet/src/http/rest-paths.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { createLogger } from '../../src/base/log.ts';
import { RpcError } from '../../src/protocol/rpc-error.ts';

export const from = 'clients of the embedded ledger';
export const covers = ['localnet/http/handle-request.ts'];

const call = '{"jsonrpc":"2.0","id":1,"method":"echo","params":[5,{"a":18446744073709551615}]}';

/** Bodies. */
export const seeds: readonly Uint8Array[] = [
  call,
  `[${call},{"jsonrpc":"2.0","id":"a\\u0041","method":"refuse"},{"jsonrpc":"2.0","method":"echo"}]`,
  '{"id":null,"method":"constructor"}',
  '[]',
].map((text) => Buffer.from(text));

const refuse = (): never => {
  throw new RpcError(-32602, 'no');
};
const methods: Methods = new Map<string, (params: JsonValue | undefined) => JsonValue>([
  ['echo', (params) => params ?? null],
  ['refuse', refuse],
]);
const log = createLogger('silent', () => {});
const options = { methods, batchMaxCalls: 10, batchAnswerMaxChars: 1_000, log };

type Shown = Readonly<{ jsonrpc?: unknown; id?: unknown; result?: unknown; error?: { code?: unknown } }>;

const isAnswer = (shown: Shown): boolean =>
  'id' in shown && ('result' in shown || Number.isInteger(shown.error?.code));

/** Whatever is sent, what comes back is empty, or JSON with an id and either a result or an error. */
export async function fuzz(bytes: Uint8Array): Promise<boolean> {
  const text = await answer(Buffer.from(bytes), options);
  const origin = Buffer.from(bytes).toString('latin1', 0, 60);
  for (const headers of [
    { origin, host: 'a.example' },
    { origin: 'http://a.example', host: origin },
  ])
    decideCors(headers);
  if (text === '') return true;
  const shown = JSON.parse(text) as Shown | readonly Shown[];
  const all = Array.isArray(shown) ? (shown as readonly Shown[]) : [shown as Shown];
  if (!all.every(isAnswer)) throw new Error(`no answer: ${text}`);
  return all.some((each) => 'result' in each);
}
