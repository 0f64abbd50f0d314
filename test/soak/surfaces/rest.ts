import { FormData, request } from 'undici';
import { Refused, Tally, WrongAnswer } from '../tally.ts';
import type { FundedWallet } from './funded-wallets.ts';
import { type Check, checkAnswer, type HttpAnswer, measuredLoad, openHttp, type Surface } from './surface.ts';

type RestCheck = Check<string> & Readonly<{ path: string; query: Readonly<Record<string, string>> }>;

/** The envelope of all REST responses. */
type Envelope = Readonly<{
  success: unknown;
  message: unknown;
  result?: unknown;
  error?: Readonly<{ code: string; message: string }>;
}>;

type Parsed = Readonly<{ signatures: readonly string[]; status: string }>;

const LAMPORTS_PER_SOL = 1_000_000_000;
/** A valid signature that no transaction has. */
const NO_TRANSACTION = '1'.repeat(64);
/** Every nth request stores the same file and reads it again. */
const FILE_EACH = 25;
const FILE = new Uint8Array(64 * 1024).map((_, at) => (at * 31) % 251);

const isEmpty = (result: readonly unknown[]): boolean => result.length === 0;

const right = <Result>(
  path: string,
  query: RestCheck['query'],
  isTrue: (result: Result) => boolean,
): RestCheck => ({ path: `/sol/${path}`, query, isTrue });

function walletCalls({ address, lamports, signature }: FundedWallet): RestCheck[] {
  const sol = lamports / LAMPORTS_PER_SOL;
  const wallet = { wallet: address };
  const isAirdrop = ({ signatures, status }: Parsed): boolean =>
    signatures[0] === signature && status === 'Success';
  type Portfolio = { sol_balance: number; num_tokens: number; num_nfts: number };
  return [
    right('v1/wallet/balance', wallet, ({ balance }: { balance: number }) => balance === sol),
    right('v1/wallet/get_portfolio', wallet, ({ sol_balance, num_tokens, num_nfts }: Portfolio) => {
      return sol_balance === sol && num_tokens === 0 && num_nfts === 0;
    }),
    right('v1/wallet/all_tokens', wallet, isEmpty),
    right('v1/wallet/get_domains', wallet, isEmpty),
    right('v2/nft/read_all', { address }, ({ nfts }: { nfts: readonly unknown[] }) => isEmpty(nfts)),
    right('v1/transaction/parsed', { txn_signature: signature }, isAirdrop),
    right('v1/transaction/history', { account: address }, (result: readonly Parsed[]) => {
      return result.length === 1 && result.every(isAirdrop);
    }),
  ];
}

const refused = (path: string, query: RestCheck['query'], refusedWith: string): RestCheck => ({
  ...right(path, query, () => false),
  refusedWith,
});

const restChecks = (wallets: readonly FundedWallet[]): RestCheck[] => [
  ...wallets.flatMap(walletCalls),
  refused('v1/wallet/balance', { wallet: 'no address' }, '400 INVALID_FIELDS'),
  refused('v1/transaction/parsed', { txn_signature: NO_TRANSACTION }, '404 TRANSACTION_NOT_FOUND'),
  refused('v1/token/get_info', { token_address: wallets[0]?.address ?? '' }, '400 NOT_A_MINT'),
];

/** @throws WrongAnswer for an invalid or inconsistent envelope. */
function opened({ status, text }: HttpAnswer, what: string): Envelope {
  try {
    const envelope = JSON.parse(text) as Envelope;
    const isOk = status >= 200 && status < 300;
    const { success, message, error } = envelope;
    if (success === isOk && typeof message === 'string' && (error === undefined) === isOk) return envelope;
  } catch {
    // Not JSON: rejected below.
  }
  throw new WrongAnswer(what);
}

/** The REST interface with stored files. @param base - URL without a path. */
export function restSurface(
  base: string,
  key: string,
  wallets: readonly FundedWallet[],
  perSecond: number,
): Surface {
  const tally = new Tally('REST', 'answers');
  const http = openHttp();
  const headers = { 'x-api-key': key };
  const checks = restChecks(wallets);
  let requests = 0;
  /** URI of the file; equal contents must have equal URIs. */
  let known: string | null = null;

  const storeFile = async (): Promise<void> => {
    const form = new FormData();
    form.set('file', new Blob([FILE], { type: 'application/octet-stream' }), 'soak.bin');
    const init = { method: 'POST', headers, body: form } as const;
    const answer = await http.send(`${base}/sol/v1/storage/upload`, init);
    const { error, result } = opened(answer, `an upload got ${answer.status} ${answer.text}`);
    if (error !== undefined) throw new Refused(error.code);
    const { uri } = result as { uri: string };
    if (uri !== (known ?? uri)) throw new WrongAnswer(`the same file is in ${known} and in ${uri}`);
    known = uri;
    const { body } = await request(uri, { dispatcher: http.agent });
    if (Buffer.compare(new Uint8Array(await body.arrayBuffer()), FILE) !== 0)
      throw new WrongAnswer(`${uri} has other bytes than were stored`);
  };
  const send = async (): Promise<void> => {
    const number = requests++;
    if (number % FILE_EACH === 0) return storeFile();
    const check = checks[number % checks.length]!;
    const url = `${base}${check.path}?${new URLSearchParams(check.query)}`;
    const answer = await http.send(url, { headers });
    const what = `${check.path} got ${answer.status} ${answer.text}`;
    const { error, result } = opened(answer, what);
    const named = error && { code: `${answer.status} ${error.code}`, name: error.code };
    checkAnswer(check, { result, error: named ?? null }, what, tally);
  };
  return { tallies: [tally], load: measuredLoad(tally, perSecond, send), close: http.close };
}
