import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { chunk } from '../../../../src/base/chunk.ts';
import { parseJson } from '../../../../src/base/json.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { deployedInSlot0 } from '../bank/vm-accounts.ts';
import { accountSchema } from '../genesis/account-file.ts';

/** Addresses of a call. Source: Agave `MAX_MULTIPLE_ACCOUNTS`. */
export const CALL_MAX_ADDRESSES = 100;
const RESPONSE_MAX_BYTES = 256 * 1024 * 1024;

type RemoteOptions = Readonly<{
  /** Time for one attempt, body included. Default 30,000. */
  timeoutMs?: number;
  /** Attempts while the cluster does not respond or responds with 429 or 5xx. Default 4. */
  attempts?: number;
  /** Pause before the second attempt; doubles with each further one. Default 500. */
  pauseMs?: number;
}>;

const responseSchema = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.object({ value: z.array(accountSchema.nullable()) }) }),
]);

/** The remote cluster did not return accounts. The message names its host, but not the URL, which may hold a key. */
export class RemoteAccountsError extends Error {
  override readonly name = 'RemoteAccountsError';
}

/** Why a read failed, in words that callers may see. */
class ReadError extends Error {}

/** Worth another attempt. */
class TransientError extends ReadError {}

/** Reads accounts of another cluster with getMultipleAccounts. */
export class RemoteAccounts {
  /** For messages. */
  readonly host: string;
  readonly #url: string;
  readonly #options: Required<RemoteOptions>;

  /** @param url - valid http or https URL. */
  constructor(url: string, { timeoutMs = 30_000, attempts = 4, pauseMs = 500 }: RemoteOptions = {}) {
    this.host = new URL(url).host;
    this.#url = url;
    this.#options = { timeoutMs, attempts, pauseMs };
  }

  /**
   * Reads any number of accounts, 100 per call, as of the confirmed slot. Programs are as if deployed, and lookup tables
   * as if extended, in slot 0: the ledger is behind the slots of the cluster, so that they could not be used yet.
   * @returns in the order of the addresses; null for an account that does not exist.
   * @throws RemoteAccountsError
   */
  async read(addresses: readonly Address[]): Promise<(Account | null)[]> {
    const accounts: (Account | null)[] = [];
    for (const some of chunk(addresses, CALL_MAX_ADDRESSES))
      accounts.push(...(await this.#readWithRetries(some)));
    return accounts;
  }

  async #readWithRetries(addresses: readonly Address[]): Promise<(Account | null)[]> {
    const { attempts, pauseMs } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#readOnce(addresses);
      } catch (error) {
        if (!(error instanceof TransientError) || attempt === attempts) throw this.#failure(addresses, error);
        await delay(pauseMs * 2 ** (attempt - 1));
      }
    }
  }

  #failure(addresses: readonly Address[], error: unknown): RemoteAccountsError {
    const others = addresses.length === 1 ? '' : ` and ${addresses.length - 1} others`;
    const reason = error instanceof ReadError ? error.message : 'the response is invalid';
    return new RemoteAccountsError(`cannot read ${addresses[0]}${others} from ${this.host}: ${reason}`);
  }

  async #readOnce(addresses: readonly Address[]): Promise<(Account | null)[]> {
    const params = [addresses, { encoding: 'base64+zstd', commitment: 'confirmed' }];
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getMultipleAccounts', params });
    const parsed = responseSchema.safeParse(parseJson(await this.#post(body)));
    if (!parsed.success) throw new ReadError('the response is not a list of accounts');
    if ('error' in parsed.data) {
      const { code, message } = parsed.data.error;
      throw new ReadError(`error ${code}: ${message.slice(0, 200)}`);
    }
    const { value } = parsed.data.result;
    if (value.length !== addresses.length) throw new ReadError('the response has another number of accounts');
    return value.map((account) => account && extendedAtGenesis(deployedInSlot0(account)));
  }

  async #post(body: string): Promise<string> {
    const { timeoutMs } = this.#options;
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await readText(response);
      if (response.status === 429 || response.status >= 500)
        throw new TransientError(`HTTP status ${response.status}`);
      if (!response.ok) throw new ReadError(`HTTP status ${response.status}`);
      return text;
    } catch (error) {
      // `fetch` reports failed connections as TypeError, with the system error as its cause.
      if (error instanceof TypeError)
        throw new TransientError(codeOf(error.cause) ?? 'the connection failed');
      if (error instanceof DOMException) throw new TransientError(`no response within ${timeoutMs} ms`);
      throw error;
    }
  }
}

const codeOf = (cause: unknown): string | undefined => (cause as { code?: string } | undefined)?.code;

/** Slot of the last extension, and the number of addresses before it. Source: `LookupTableMeta`. */
const EXTENSION = { start: 12, end: 21 } as const;

function extendedAtGenesis(account: Account): Account {
  if (account.owner !== programs.addressLookupTable) return account;
  return { ...account, data: new Uint8Array(account.data).fill(0, EXTENSION.start, EXTENSION.end) };
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > RESPONSE_MAX_BYTES) throw new ReadError(`the response exceeds ${RESPONSE_MAX_BYTES} bytes`);
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}
