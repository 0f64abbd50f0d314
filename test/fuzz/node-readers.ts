import { isJson } from '../../src/base/json-scan.ts';
import { createLogger } from '../../src/base/log.ts';
import { address } from '../../src/solana/address.ts';
import { MalformedJson } from '../../src/solana/encoding/read-json.ts';
import { programs } from '../../src/solana/programs.ts';
import { signatureFromBytes } from '../../src/solana/signature.ts';
import { lamports, slot } from '../../src/solana/units.ts';
import { ChainReader, ReadError } from '../../src/upstream/feeds/chain-reader.ts';
import { readAccounts } from '../../src/upstream/feeds/gap/read-accounts.ts';
import { geyserLimits } from '../../src/upstream/feeds/geyser/limits.ts';
import { LateSignatures } from '../../src/upstream/feeds/geyser/late-signatures.ts';
import { MintCache } from '../../src/upstream/feeds/geyser/mint-cache.ts';
import { feedLimits } from '../../src/upstream/feeds/limits.ts';
import { dispatcherOf } from '../upstream/mock/dispatcher.ts';
import { seeds as accounts } from './account-state.ts';
import { acceptedLater } from './engine/accepted.ts';
import { seeds as results } from './node-results.ts';
import { seeds as blocks } from './ui-block.ts';

export const from = 'nodes';
export const covers = [
  'solana/encoding/read-ui-block.ts',
  'upstream/feeds/chain-reader.ts',
  'upstream/feeds/gap/read-accounts.ts',
  'upstream/feeds/geyser/late-signatures.ts',
  'upstream/feeds/geyser/mint-cache.ts',
];

const KEY = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const [mint, token] = accounts as [Uint8Array, Uint8Array];
const shown = (data: Uint8Array): string =>
  `{"lamports":5,"data":["${Buffer.from(data).toString('base64')}","base64"],"owner":"${programs.token}","executable":false,"rentEpoch":0}`;

/** Results of whatever a node is asked. */
export const seeds: readonly Uint8Array[] = [
  ...results,
  ...blocks,
  ...[
    '300',
    '[300,301,302]',
    `{"context":{"slot":300},"value":${shown(mint)}}`,
    `{"context":{"slot":300},"value":[${shown(mint)},null,${shown(token)}]}`,
    '{"context":{"slot":300},"value":[{"slot":5,"err":null,"confirmationStatus":"finalized"}]}',
  ].map((text) => Buffer.from(text)),
];

const log = createLogger('silent', () => {});
const addresses = [KEY, programs.system, programs.vote].map((text) => address(text));
const tokenAccount = {
  ...{ lamports: lamports(1), data: token, owner: programs.token, executable: false, rentEpoch: 0n },
};

/** What questions may end with besides an answer; numbers that are none are the node's fault as much. */
const refusals = [ReadError, MalformedJson, SyntaxError, RangeError];

async function accountsRead(reader: ChainReader): Promise<void> {
  const question = { addresses, commitment: 'processed', notBefore: slot(1) } as const;
  const { signal } = new AbortController();
  for (const encoding of ['base64', 'jsonParsed'] as const) {
    for await (const read of readAccounts(reader, { ...question, encoding }, signal))
      for (const { result, keyedResult } of read) {
        JSON.parse(result().toString());
        JSON.parse(keyedResult()?.toString() ?? 'null');
      }
  }
}

/** Whatever a node tells, those that ask read it, or say that it is no answer. */
export async function fuzz(bytes: Uint8Array): Promise<boolean> {
  const body = Buffer.from(bytes);
  if (!isJson(body, 256)) return false;
  const send = async (): Promise<Buffer> => Buffer.from(body);
  const pool = dispatcherOf(async () => ({ body: Buffer.from(body), errorCode: 0 }));
  const reader = new ChainReader({ network: 'devnet', pool, limits: feedLimits, log });
  const late = new LateSignatures(send, log);
  const signature = signatureFromBytes(new Uint8Array(64).fill(1));
  const end = late.watch({ kind: 'signature', signature, commitment: 'confirmed' } as never, (reported) =>
    JSON.parse(reported.toString()),
  );
  const read = await Promise.all([
    acceptedLater(() => reader.slot('confirmed'), ...refusals),
    acceptedLater(() => reader.availableSlots(slot(300), slot(305), 'confirmed'), ...refusals),
    acceptedLater(() => reader.block(slot(300)), ...refusals),
    acceptedLater(() => accountsRead(reader), ...refusals),
    acceptedLater(async () =>
      new MintCache({ request: send, log, limits: geyserLimits }).fetchFor(tokenAccount),
    ),
  ]);
  end();
  return read.slice(0, -1).includes(true);
}
