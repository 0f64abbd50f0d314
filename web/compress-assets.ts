import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

const COMPRESSIBLE = /\.(js|css|svg|html|json)$/;

async function compress(path: string): Promise<void> {
  const source = await readFile(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  await writeFile(`${path}.br`, await brotli(source, { params }));
  await writeFile(`${path}.gz`, await zip(source, { level: 9 }));
}

/** Precompresses every file as `.br` and `.gz`. */
export const compressAssets = (): Plugin => ({
  name: 'compress-assets',
  apply: 'build',
  writeBundle: {
    order: 'post',
    sequential: true,
    async handler({ dir = 'dist' }) {
      const files = await readdir(dir, { recursive: true });
      const compressibleFiles = files.filter((file) => COMPRESSIBLE.test(file));
      await Promise.all(compressibleFiles.map((file) => compress(join(dir, file))));
    },
  },
});
