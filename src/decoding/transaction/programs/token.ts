import type { WritableJson } from '../../../base/json.ts';
import type { Address } from '../../../solana/address.ts';
import { rawAmount, tokensOf } from '../../amounts.ts';
import { addressOf, membersOf, u64Of } from '../../lenient-json.ts';
import { type ParsedAction, type ProgramParser, type ReadInstruction, readByParsedType } from '../action.ts';
import { byEachName } from '../by-each-name.ts';
import type { ExecutedTransaction, ParsedView } from '../executed-transaction.ts';
import { mintedNfts } from '../nft/token-metadata.ts';
import { isNftAmount } from '../token-accounts.ts';

const ignored = 'ignored';
/** Returns null for an invalid instruction; `ignored` if another program reports the effect. */
type Read = (
  info: ParsedView['info'],
  transaction: ExecutedTransaction,
) => ParsedAction | null | typeof ignored;

const movedOf = ({ amount, tokenAmount }: ParsedView['info']): bigint | null =>
  u64Of(amount) ?? u64Of(membersOf(tokenAmount).amount);

const authorityOf = ({ authority, multisigAuthority }: ParsedView['info']): Address | null =>
  addressOf(authority) ?? addressOf(multisigAuthority);

const readTransfer: Read = (info, transaction) => {
  const amount = movedOf(info);
  const [from, to] = [addressOf(info.source), addressOf(info.destination)];
  if (amount === null || from === null || to === null) return null;
  const [source, destination] = [transaction.tokenAccounts.get(from), transaction.tokenAccounts.get(to)];
  const mint = addressOf(info.mint) ?? source?.mint ?? destination?.mint ?? null;
  const tokens = tokensOf(transaction.decimals, mint, amount);
  const parties = {
    receiver: destination?.owner ?? null,
    sender: source?.owner ?? authorityOf(info),
    receiver_associated_account: to,
  };
  if (mint !== null && isNftAmount(transaction, mint, amount)) {
    return { type: 'NFT_TRANSFER', info: { amount: tokens, ...parties, nft_address: mint } };
  }
  const moved = { amount: tokens, amount_raw: rawAmount(amount), ...parties, token_address: mint };
  return { type: 'TOKEN_TRANSFER', info: moved };
};

const readMint: Read = (info, transaction) => {
  const [amount, mint, account] = [movedOf(info), addressOf(info.mint), addressOf(info.account)];
  if (amount === null || mint === null || account === null) return null;
  if (amount === 1n && mintedNfts(transaction).has(mint)) return ignored;
  const minted: Record<string, WritableJson> = {
    amount: tokensOf(transaction.decimals, mint, amount),
    amount_raw: rawAmount(amount),
    receiver_address: transaction.tokenAccounts.get(account)?.owner ?? null,
    token_address: mint,
  };
  return { type: 'TOKEN_MINT', info: minted };
};

const readBurn: Read = (info, transaction) => {
  const [amount, mint, account] = [movedOf(info), addressOf(info.mint), addressOf(info.account)];
  if (amount === null || mint === null || account === null) return null;
  const wallet = transaction.tokenAccounts.get(account)?.owner ?? authorityOf(info);
  const tokens = tokensOf(transaction.decimals, mint, amount);
  if (isNftAmount(transaction, mint, amount)) {
    return { type: 'NFT_BURN', info: { wallet, nft_address: mint, amount: tokens } };
  }
  const burnt = { wallet, amount: tokens, amount_raw: rawAmount(amount), token_address: mint };
  return { type: 'TOKEN_BURN', info: burnt };
};

const readCreate: Read = (info, transaction) => {
  const mint = addressOf(info.mint);
  if (mint === null) return null;
  return mintedNfts(transaction).has(mint)
    ? ignored
    : { type: 'TOKEN_CREATE', info: { token_address: mint } };
};

const readers = byEachName(
  {
    'transfer transferChecked transferCheckedWithFee': readTransfer,
    'mintTo mintToChecked': readMint,
    'burn burnChecked': readBurn,
    'initializeMint initializeMint2': readCreate,
  },
  String,
);

const ignoredTypes: ReadonlySet<string> = new Set([
  ...['getAccountDataSize', 'amountToUiAmount', 'uiAmountToAmount', 'syncNative', 'closeAccount'],
  ...['reallocate', 'createNativeMint'],
]);

const initializeType = /^initialize(?!Multisig)/;

const read: ReadInstruction = (instruction, transaction) => {
  const { parsed } = instruction;
  if (parsed === null) return null;
  const reader = readers.get(parsed.type);
  if (reader !== undefined) {
    const action = reader(parsed.info, transaction);
    return action === ignored ? [] : action && [action];
  }
  if (ignoredTypes.has(parsed.type) || initializeType.test(parsed.type)) return [];
  return readByParsedType(instruction, transaction);
};

export const tokenProgram: ProgramParser = { name: 'Token Program', read };

export const token2022Program: ProgramParser = { name: 'TOKEN_2022_PROGRAM', read };
