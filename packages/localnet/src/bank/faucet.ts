import { ByteWriter } from '../../../../src/base/bytes.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import type { Keypair } from '../../../../src/solana/ed25519.ts';
import { encodeMessage } from '../../../../src/solana/message/message.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { compileMessage } from '../../../../src/solana/transaction/compile-message.ts';
import { decodeTransaction } from '../../../../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../../../src/solana/transaction/encode-transaction.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { Lamports } from '../../../../src/solana/units.ts';

/** System instruction Transfer. */
const TRANSFER = 2;

export function faucetTransfer(
  faucet: Keypair,
  to: Address,
  amount: Lamports,
  recentBlockhash: Blockhash,
): Transaction {
  const message = compileMessage({
    feePayer: faucet.address,
    recentBlockhash,
    instructions: [
      {
        programId: programs.system,
        accounts: [
          { address: faucet.address, signer: true, writable: true },
          { address: to, signer: false, writable: true },
        ],
        data: new ByteWriter(12).u32(TRANSFER).u64(amount).finish(),
      },
    ],
  });
  const messageBytes = encodeMessage(message);
  const decoded = decodeTransaction(encodeTransaction([faucet.sign(messageBytes)], messageBytes));
  if ('fault' in decoded) throw new Error(`faucet created an invalid transaction: ${decoded.fault}`);
  return decoded.transaction;
}
