import type { Address } from '../../../solana/address.ts';
import type { TokenBalance } from '../../../solana/transaction/transaction-meta.ts';
import { U64_MAX } from '../../../solana/units.ts';
import { readAddressText, readAddressTextOrNull, required } from '../fields.ts';
import { InvalidProtobuf, type ProtobufReader } from '../protobuf.ts';

/** An amount in base units, written as text. */
function amountOf(text: string): bigint {
  if (!/^\d{1,20}$/.test(text) || BigInt(text) > U64_MAX)
    throw new InvalidProtobuf('a token amount is no u64');
  return BigInt(text);
}

/** Reads `UiTokenAmount`. The forms for people follow from amount and decimals and are not read. */
function readAmount(reader: ProtobufReader): Pick<TokenBalance, 'amount' | 'decimals'> {
  let amount = 0n;
  let decimals = 0;
  while (reader.next()) {
    if (reader.field === 2) decimals = reader.u8();
    else if (reader.field === 3) amount = amountOf(reader.string());
    else reader.skipField();
  }
  return { amount, decimals };
}

/** Reads `TokenBalance`. */
export function readTokenBalance(reader: ProtobufReader): TokenBalance {
  let accountIndex = 0;
  let mint: Address | null = null;
  let amount: Pick<TokenBalance, 'amount' | 'decimals'> = { amount: 0n, decimals: 0 };
  let owner: Address | null = null;
  let programId: Address | null = null;
  while (reader.next()) {
    if (reader.field === 1) accountIndex = reader.u8();
    else if (reader.field === 2) mint = readAddressText(reader);
    else if (reader.field === 3) amount = readAmount(reader.message());
    else if (reader.field === 4) owner = readAddressTextOrNull(reader);
    else if (reader.field === 5) programId = readAddressTextOrNull(reader);
    else reader.skipField();
  }
  return { accountIndex, mint: required(mint, 'the mint of a token balance'), owner, programId, ...amount };
}
