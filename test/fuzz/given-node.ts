import { parseNodeSettings } from '../../src/app/upstreams/added-nodes.ts';
import { ApiError } from '../../src/control/api/api-error.ts';
import { contract } from '../../src/control/api/contract/contract.ts';
import { accepted } from './engine/accepted.ts';

export const from = 'operators, through the control API';
export const covers = ['app/upstreams/added-nodes.ts'];

const { body } = contract['POST /upstreams'];

export const seeds: readonly Uint8Array[] = [
  '{"network":"devnet","name":"n","url":"https://a.example/key","ws":"off","headers":{"x":"y"}}',
  '{"network":"devnet","name":"n","url":"http://[::1]:8899","grpc":"http://a.example:10000","options":{"pipelining":2,"requests_per_second":5}}',
  '{"network":"testnet","name":"n","url":"env:HOME","ws":"file:x"}',
].map((text) => Buffer.from(text));

/** A node is complete or refused, each field in words; nothing of it is read from a file or the environment. */
export function fuzz(bytes: Uint8Array): boolean {
  let given: unknown;
  try {
    given = JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return false;
  }
  const read = body.safeParse(given);
  if (!read.success) return false;
  return accepted(() => {
    const { url } = parseNodeSettings(read.data as Parameters<typeof parseNodeSettings>[0]);
    if (url !== (given as { url: unknown }).url || !/^https?:/i.test(url)) throw new Error('another URL');
  }, ApiError);
}
