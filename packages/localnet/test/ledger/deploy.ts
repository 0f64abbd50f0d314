import {
  Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { expect } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes.ts';
import { programs } from '../../../../src/solana/programs.ts';
import type { Lab } from './lab.ts';

const LOADER = new PublicKey(programs.bpfUpgradeableLoader);

/** Small program that logs its input. */
export const memoElf = (lab: Lab): Uint8Array => lab.node.bank('processed').account(programs.memoV3)!.data;

export const loaderCall = (
  data: ByteWriter,
  keys: [PublicKey, 'w' | 'ws' | 's' | ''][],
): TransactionInstruction =>
  new TransactionInstruction({
    programId: LOADER,
    data: Buffer.from(data.finish()),
    keys: keys.map(([pubkey, role]) => ({
      pubkey,
      isSigner: role.includes('s'),
      isWritable: role.includes('w'),
    })),
  });

export const make = (payer: Keypair, account: Keypair, space: number): TransactionInstruction =>
  SystemProgram.createAccount({
    fromPubkey: payer.publicKey,
    newAccountPubkey: account.publicKey,
    lamports: (128 + space) * 6960,
    space,
    programId: LOADER,
  });

/** Writes code to a new buffer, as `solana program deploy`. */
export function fillBuffer(lab: Lab, payer: Keypair, elf: Uint8Array): Keypair {
  const buffer = Keypair.generate();
  const init = loaderCall(new ByteWriter().u32(0), [
    [buffer.publicKey, 'w'],
    [payer.publicKey, ''],
  ]);
  expect(lab.run([payer, buffer], [make(payer, buffer, 37 + elf.length), init])).toBeNull();
  for (let offset = 0; offset < elf.length; offset += 900) {
    const chunk = elf.subarray(offset, offset + 900);
    const data = new ByteWriter().u32(1).u32(offset).u64(BigInt(chunk.length)).bytes(chunk);
    const write = loaderCall(data, [
      [buffer.publicKey, 'w'],
      [payer.publicKey, 's'],
    ]);
    expect(lab.run([payer], [write])).toBeNull();
  }
  return buffer;
}

export const codeOf = (program: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync([program.toBuffer()], LOADER)[0];

export function deploy(lab: Lab, payer: Keypair, elf: Uint8Array): PublicKey {
  const [program, buffer] = [Keypair.generate(), fillBuffer(lab, payer, elf)];
  const data = new ByteWriter().u32(2).u64(BigInt(elf.length * 2));
  const call = loaderCall(data, [
    [payer.publicKey, 'ws'],
    [codeOf(program.publicKey), 'w'],
    [program.publicKey, 'w'],
    [buffer.publicKey, 'w'],
    [SYSVAR_RENT_PUBKEY, ''],
    [SYSVAR_CLOCK_PUBKEY, ''],
    [SystemProgram.programId, ''],
    [payer.publicKey, 's'],
  ]);
  expect(lab.run([payer, program], [make(payer, program, 36), call])).toBeNull();
  return program.publicKey;
}
