import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonValue, parseJson } from '../../src/base/json.ts';
import { noParameters, readOnlyContextConfig } from '../../src/protocol/rpc/parameters.ts';
import { parseSendTransaction } from '../../src/protocol/rpc/sendTransaction.ts';
import { RpcError } from '../../src/protocol/rpc-error.ts';

export const from = 'clients';
export const covers = ['solana/address.ts', 'solana/base58.ts', 'protocol/rpc/', 'localnet/rpc/'];

type Parse = (params: JsonValue | undefined) => unknown;

const folder = join(import.meta.dirname, '..', '..', 'src', 'localnet', 'rpc');
const methodModules: readonly Record<string, Parse>[] = await Promise.all(
  readdirSync(folder)
    .filter((file) => /^[a-z]+[A-Z]\w*\.ts$/.test(file))
    .map((file) => import(join(folder, file))),
);

const parsers: readonly Parse[] = [
  ...[noParameters, readOnlyContextConfig, parseSendTransaction],
  ...methodModules.flatMap((module) =>
    Object.entries(module).flatMap(([name, parse]) => (/^parse[A-Z]/.test(name) ? [parse] : [])),
  ),
];
if (parsers.length < 30) throw new Error('too few parsers');

const KEY = '"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"';
const CONFIG =
  '{"commitment":"confirmed","minContextSlot":5,"encoding":"base64","dataSlice":{"offset":1,"length":2}}';
const FILTERS =
  '[{"dataSize":165},{"memcmp":{"offset":32,"bytes":"3Mc6vR","encoding":"base58"}},"tokenAccountState"]';

/** Parameters of several methods. */
export const seeds: readonly Uint8Array[] = [
  '[]',
  `[${KEY}]`,
  `[${KEY},${CONFIG}]`,
  `[[${KEY},${KEY}],${CONFIG}]`,
  `[${KEY},{"filters":${FILTERS},"withContext":true,"sortResults":false,"encoding":"jsonParsed"}]`,
  `[${KEY},{"mint":${KEY}},${CONFIG}]`,
  `[${KEY},{"transactionDetails":"full","limit":5,"paginationToken":"7:1","filters":{"slot":{"gte":5},"status":"failed"}}]`,
  '[{"identity":null,"range":{"firstSlot":1,"lastSlot":5}}]',
  '[18446744073709551615,5000]',
  `[${KEY},5000,{"recentBlockhash":${KEY}}]`,
  '[1.5e300,{"identity":null}]',
  '[{"votePubkey":null,"keepUnstakedDelinquents":true,"delinquentSlotDistance":1}]',
].map((text) => Buffer.from(text));

function isAccepted(parse: Parse, params: JsonValue): boolean {
  try {
    parse(params);
    return true;
  } catch (error) {
    if (error instanceof RpcError) return false;
    throw error;
  }
}

/** Whatever the parameters are, a parser takes them or refuses them with an error for the client. */
export function fuzz(input: Uint8Array): boolean {
  let params: JsonValue;
  try {
    params = parseJson(Buffer.from(input).toString('utf8'));
  } catch {
    return false;
  }
  return parsers.filter((parse) => isAccepted(parse, params)).length > 0;
}
