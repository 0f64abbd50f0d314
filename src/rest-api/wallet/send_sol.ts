import { z } from 'zod';
import { ByteWriter } from '../../base/bytes.ts';
import { lamportsOfSol } from '../../decoding/amounts.ts';
import type { Chain } from '../../decoding/chain/chain.ts';
import type { Address } from '../../solana/address.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import { objectOf } from '../../solana/encoding/read-json.ts';
import { readBlockhash } from '../../solana/encoding/read-ui-block.ts';
import { decimalText } from '../../solana/encoding/ui-token-amount.ts';
import { encodeMessage } from '../../solana/message/message.ts';
import { programs } from '../../solana/programs.ts';
import { SIGNATURE_BYTES } from '../../solana/signature.ts';
import { compileMessage, type Instruction } from '../../solana/transaction/compile-message.ts';
import { encodeTransaction } from '../../solana/transaction/encode-transaction.ts';
import type { Lamports } from '../../solana/units.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, checked, network } from '../fields.ts';

/** `SystemInstruction::Transfer`. Source: solana-system-interface. */
const TRANSFER = 2;
const SOL_DECIMALS = 9;

const amountOfSol = checked<unknown>(
  (input) => lamportsOfSol(input) !== null,
  'is missing: send an amount in SOL',
  'must be an amount in SOL from 0.000000001 to 18446744073.709551615, as a number or as decimal text',
)
  .transform((input) => lamportsOfSol(input) as Lamports)
  .meta({
    type: ['number', 'string'],
    minimum: 1e-9,
    description: 'SOL, not lamports; use decimal text for more digits than a double holds.',
  });

function transfer(from: Address, to: Address, amount: Lamports): Instruction {
  return {
    programId: programs.system,
    accounts: [
      { address: from, signer: true, writable: true },
      { address: to, signer: false, writable: true },
    ],
    data: new ByteWriter(12).u32(TRANSFER).u64(amount).finish(),
  };
}

/** Reads at `confirmed`: such a blockhash is known to the whole network and still recent. */
const latestBlockhash = (chain: Chain): Promise<Blockhash> =>
  chain.read('getLatestBlockhash', [{ commitment: 'confirmed' }], (result) =>
    readBlockhash(objectOf(objectOf(result, 'getLatestBlockhash').value, 'value').blockhash),
  );

/** Source: rest-api.md §2.8. */
export const sendSol = endpoint('POST wallet/send_sol', {
  paths: ['/sol/v1/wallet/send_sol', '/sol/v1/wallet/send_sol_detach'],
  summary: 'Build a SOL transfer for the sender to sign',
  description:
    'A legacy transaction in base64 with one all-zero signature. The sender, who also pays the fee, signs and ' +
    'sends it, for example with transaction/send_txn, within about a minute, before its blockhash expires.',
  from: 'body',
  failures: chainFailures,
  fields: z.object({
    network: network(),
    from_address: address('Sender, signer and fee payer.'),
    to_address: address('Recipient.'),
    amount: amountOfSol,
  }),
  result: z.object({ encoded_transaction: z.string().meta({ description: 'Base64.' }) }),
  async handle({ from_address: from, to_address: to, amount, ...read }, { chain }) {
    const recentBlockhash = await latestBlockhash(chain(read));
    const instructions = [transfer(from, to, amount)];
    const message = encodeMessage(compileMessage({ feePayer: from, instructions, recentBlockhash }));
    const wire = encodeTransaction([new Uint8Array(SIGNATURE_BYTES)], message);
    return {
      message: `${decimalText(amount, SOL_DECIMALS)} SOL transfer request generated successfully`,
      result: { encoded_transaction: Buffer.from(wire).toString('base64') },
    };
  },
});
