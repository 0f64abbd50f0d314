import { Keypair, Transaction, type TransactionInstruction } from '@solana/web3.js';
import { at, SOL } from '../../packages/localnet/test/ledger/lab.ts';
import type { Rig } from '../../packages/localnet/test/rig.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { lamports } from '../../src/solana/units.ts';
import { decoded } from '../solana/decoded-transaction.ts';

export class TransactionSender {
  readonly #rig: Rig;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  wallet(sol = 10): Keypair {
    const wallet = Keypair.generate();
    this.#rig.node.airdrop(at(wallet.publicKey), lamports(BigInt(sol * SOL)));
    this.#rig.freeze();
    return wallet;
  }

  /** Sends a legacy transaction paid by the first signer. @returns its signature. */
  send(signers: readonly Keypair[], instructions: readonly TransactionInstruction[]): string {
    const { blockhash } = this.#rig.node.bank('processed');
    const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: signers[0]!.publicKey });
    transaction.add(...instructions).sign(...signers);
    const outcome = this.#rig.node.submit(decoded(transaction.serialize()));
    if (outcome !== null) throw new Error(`the ledger says ${JSON.stringify(outcome)}`);
    this.#rig.freeze();
    return encodeBase58(transaction.signature as Uint8Array);
  }
}
