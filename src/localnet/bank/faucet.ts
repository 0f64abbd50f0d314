import { ByteWriter } from '../../base/bytes.ts';
import type { Address } from '../../solana/address.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import type { Keypair } from '../../solana/ed25519.ts';
import { encodeMessage } from '../../solana/message/message.ts';
import { programs } from '../../solana/programs.ts';
import { compileMessage } from '../../solana/transaction/compile-message.ts';
import { decodeTransaction } from '../../solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../solana/transaction/encode-transaction.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';
import type { Lamports } from '../../solana/units.ts';

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
  if ('fault' in decoded) throw new Error(`the faucet built an invalid transaction: ${decoded.fault}`);
  return decoded.transaction;
}
