import { parseJson, writeJson } from '../../src/base/json.ts';
import { type DecodedCall, decodeBody } from '../../src/localnet/http/decode.ts';

/** Request bodies to mutate. */
export const seeds: readonly Uint8Array[] = [
  '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["11111111111111111111111111111111",{"commitment":"processed"}]}',
  '{"jsonrpc":"2.0","id":18446744073709551615,"method":"getSlot"}',
  '{"jsonrpc":"2.0","id":"a\\u00e9","method":"getSlot","params":[]}',
  '[{"jsonrpc":"2.0","id":1,"method":"getSlot"},{"jsonrpc":"2.0","method":"getSlot"},{"id":null}]',
  '{"jsonrpc":"1.0","id":-0,"method":"getSlot","extra":{"id":1.5e3}}',
].map((text) => Buffer.from(text));

/** An id that is echoed is a JSON value that reads as itself, and never a fraction or a negative number. */
function checkId(call: DecodedCall): void {
  if (call.kind === 'notification' || call.id === null) return;
  const text = writeJson(call.id);
  if (parseJson(text) !== call.id) throw new Error(`the id ${text} does not read as itself`);
  if (typeof call.id !== 'string' && !/^\d{1,20}$/.test(text)) throw new Error(`the id ${text} is no u64`);
}

/** Whatever a client sends: no exception, and nothing is taken for a call that is not JSON. */
export function fuzz(input: Uint8Array): boolean {
  const text = Buffer.from(input).toString('utf8');
  const body = decodeBody(text);
  if (body.kind === 'unparsable') return false;
  JSON.parse(text);
  for (const call of body.kind === 'single' ? [body.call] : body.calls) checkId(call);
  return true;
}
