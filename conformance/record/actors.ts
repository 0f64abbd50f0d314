import { createHash } from 'node:crypto';
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';

const actors = new Map<string, Keypair>();
const tokenAccounts = new Map<string, PublicKey>();

/** The keypair of a name, the same on every machine: its seed is a hash of the name. */
export function actor(name: string): Keypair {
  const known = actors.get(name);
  if (known !== undefined) return known;
  const keypair = Keypair.fromSeed(createHash('sha256').update(`solway conformance ${name}`).digest());
  actors.set(name, keypair);
  return keypair;
}

export const key = (name: string): PublicKey => actor(name).publicKey;

/** The associated token account of two actors. */
export function tokenAccount(owner: string, mint: string | PublicKey): PublicKey {
  const mintKey = typeof mint === 'string' ? key(mint) : mint;
  const program =
    typeof mint === 'string' && mint.startsWith('mint22') ? TOKEN_2022_PROGRAM_ID : TOKEN_PROGRAM_ID;
  const [address] = PublicKey.findProgramAddressSync(
    [key(owner).toBytes(), program.toBytes(), mintKey.toBytes()],
    ASSOCIATED_TOKEN_PROGRAM_ID,
  );
  tokenAccounts.set(`${owner}/${typeof mint === 'string' ? mint : 'sol'}`, address);
  return address;
}

/** All addresses used so far, by name; token accounts as `owner/mint`. */
export function actorAddresses(): ReadonlyMap<string, string> {
  const own = [...actors].map(([name, { publicKey }]) => [name, publicKey.toBase58()] as const);
  const held = [...tokenAccounts].map(([name, address]) => [name, address.toBase58()] as const);
  return new Map([...own, ...held]);
}
