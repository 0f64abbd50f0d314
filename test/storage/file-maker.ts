import { openEmbeddedStorage } from '../../src/control/storage/open-storage.ts';

/** Stores files in a folder, one of them endless, and prints the CID of each stored file. */
const [folder = '', seed = '0'] = process.argv.slice(2);
const { uploads } = await openEmbeddedStorage({ folder, uriPrefix: () => '' });
const { signal } = new AbortController();

async function* endless(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; ; sent++) {
    yield Buffer.alloc(sent < 10 ? 1_000_000 : 1);
    await new Promise((resolve) => setTimeout(resolve, sent < 10 ? 0 : 20));
  }
}

async function* small(index: number): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < 3; piece++) yield Buffer.from(`${seed} ${index} ${piece} `.repeat(500));
}

void uploads.put(endless(), { name: null, type: 'text/plain', ownerId: 'endless' }, signal);
for (let index = 0; ; index++) {
  const about = { name: `${index}`, type: 'text/plain', ownerId: 'small' };
  const { cid } = await uploads.put(small(index), about, signal);
  process.stdout.write(`${cid}\n`);
}
