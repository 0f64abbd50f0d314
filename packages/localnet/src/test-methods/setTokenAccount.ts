import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, positional, readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import { optional, readString } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import { encodeMessage } from '../../../../src/solana/message/message.ts';
import { findProgramAddress } from '../../../../src/solana/program-address.ts';
import { isTokenProgram, programs } from '../../../../src/solana/programs.ts';
import { compileMessage } from '../../../../src/solana/transaction/compile-message.ts';
import { decodeTransaction } from '../../../../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../../../src/solana/transaction/encode-transaction.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { displayTransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import type { OpenLocalNode } from '../genesis/open.ts';
import { withContext } from '../rpc/context.ts';
import type { LedgerControls } from './ledger-controls.ts';
import { readTokenAccountUpdate, withTokenUpdate } from './token-account-update.ts';

/** `owner, mint, update, tokenProgram`. Without token program, that of the mint. */
function parse(params: JsonValue | undefined) {
  const list = positional(params, 3, 4);
  const [ownerText, mintText] = [at(list, 0, readString), at(list, 1, readString)];
  const update = at(list, 2, readTokenAccountUpdate);
  const programText = optional(list[3], readString);
  const program = programText === null ? null : readAddress(programText);
  return { owner: readAddress(ownerText), mint: readAddress(mintText), update, program };
}

type AssociatedAccount = Readonly<{ address: Address; owner: Address; mint: Address; program: Address }>;

const CREATE_IDEMPOTENT = Uint8Array.of(1);
const SIGNATURE = new Uint8Array(64);

/** Creation of an associated token account, paid by the node; not signed. */
function creation(node: OpenLocalNode, account: AssociatedAccount): Transaction {
  const { address, owner, mint, program } = account;
  const payer = node.genesis.identity;
  const readonly = [owner, mint, programs.system, program];
  const message = compileMessage({
    feePayer: payer,
    recentBlockhash: node.bank('processed').blockhash,
    instructions: [
      {
        programId: programs.ata,
        accounts: [
          { address: payer, signer: true, writable: true },
          { address, signer: false, writable: true },
          ...readonly.map((each) => ({ address: each, signer: false, writable: false })),
        ],
        data: CREATE_IDEMPOTENT,
      },
    ],
  });
  const decoded = decodeTransaction(encodeTransaction([SIGNATURE], encodeMessage(message)));
  if ('fault' in decoded) throw new Error(`invalid creation of a token account: ${decoded.fault}`);
  return decoded.transaction;
}

/** The account as the associated token program creates it, with the extensions that the mint requires. */
function created(node: OpenLocalNode, account: AssociatedAccount): Account {
  const options = { sigVerify: false, replaceRecentBlockhash: true, innerInstructions: false };
  const { err, postAccounts } = node.simulate(creation(node, account), node.bank('processed'), options);
  const found = postAccounts.get(account.address);
  if (err === null && found !== undefined) return found;
  const reason = err === null ? 'it does not exist' : displayTransactionError(err);
  throw invalidParams(`Invalid param: cannot create token account ${account.address}: ${reason}`);
}

/** Creates or changes the associated token account of a wallet. The supply of the mint stays as it is. */
export async function setTokenAccount(
  controls: LedgerControls,
  params: JsonValue | undefined,
): Promise<WritableJson> {
  const { owner, mint, update, program: named } = parse(params);
  const { node } = controls;
  await controls.ensure([mint]);
  const mintAccount = node.newestAccount(mint);
  if (mintAccount === null) throw invalidParams(`Invalid param: could not find mint ${mint}`);
  const program = named ?? mintAccount.owner;
  if (!isTokenProgram(program)) throw invalidParams('Invalid param: unrecognized Token program id');
  const seeds = [owner, program, mint].map(addressBytes);
  const { address } = findProgramAddress(seeds, programs.ata);
  await controls.ensure([address]);
  const before = node.newestAccount(address) ?? created(node, { address, owner, mint, program });
  await controls.change([[address, withTokenUpdate(before, update)]]);
  return withContext(node.bank('confirmed'), null);
}
