import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

const COMPRESSIBLE = /\.(js|css|svg|html)$/;

/** Writes `.br` and `.gz` beside every file of the bundle, so that serving one compresses nothing. */
export const compressAssets = (): Plugin => ({
  name: 'compress-assets',
  apply: 'build',
  enforce: 'post',
  async generateBundle(_, bundle) {
    const files = Object.values(bundle).filter(({ fileName }) => COMPRESSIBLE.test(fileName));
    await Promise.all(
      files.map(async (file) => {
        const source = Buffer.from(file.type === 'chunk' ? file.code : file.source);
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        this.emitFile({
          type: 'asset',
          fileName: `${file.fileName}.br`,
          source: await brotli(source, { params }),
        });
        this.emitFile({
          type: 'asset',
          fileName: `${file.fileName}.gz`,
          source: await zip(source, { level: 9 }),
        });
      }),
    );
  },
});
