import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failures } from '../../src/protocol/errors.ts';
import { type Endpoint, failuresOf } from '../../src/rest-api/endpoint.ts';
import { openApi } from '../../src/rest-api/openapi.ts';
import { endpoints } from '../../src/rest-api/registry.ts';
import { type ApiDocument, referencePage } from '../../src/servers/reference/page.ts';
import { readImportGraph, unreachable } from '../project/import-graph.ts';

const root = join(import.meta.dirname, '..', '..');
const graph = new Map(
  [...readImportGraph(root)]
    .filter(([file]) => /^src\/(rest-api|decoding)\//.test(file))
    // The chain is passed to every endpoint; its readers are imported separately.
    .map(([file, to]) => [file, file === 'src/rest-api/endpoint.ts' ? [] : to]),
);

/**
 * Failures that end no request: they are part of a response, or come from another function in a shared file.
 */
const otherwise: Readonly<Record<string, readonly string[]>> = {
  'transaction/send_many_txns': ['TRANSACTION_REFUSED', 'TRANSACTION_FAILED', 'TRANSACTION_UNCONFIRMED'],
  'transaction/parse_selected': ['TRANSACTION_NOT_FOUND'],
};

/** Failure codes thrown by the modules of an endpoint. */
function madeFor({ name }: Endpoint): string[] {
  const apart = new Set(unreachable(graph, [`src/rest-api/${name}.ts`]));
  const texts = [...graph.keys()]
    .filter((file) => !apart.has(file))
    .map((file) => readFileSync(join(root, file), 'utf8'));
  const codes = texts.flatMap((text) =>
    [...text.matchAll(/new (?:Failure\(|NodeRejection\([^)]*?, )'(\w+)'/g)].map(([, code = '']) => code),
  );
  return [...new Set(codes)].filter((code) => !otherwise[name]?.includes(code));
}

const document = openApi(endpoints, '1.2.3') as ApiDocument;

describe('endpoint failures', () => {
  it.each(endpoints.map((endpoint) => [endpoint.name, endpoint] as const))(
    'are declared by %s',
    (_, endpoint) => {
      expect(failuresOf(endpoint)).toEqual(expect.arrayContaining(madeFor(endpoint)));
    },
  );

  it('are checked across all modules of the endpoint', () => {
    const own = [
      'NFT_NOT_FOUND',
      'NOT_A_MINT',
      'DOMAIN_NOT_FOUND',
      'TRANSACTION_NOT_FOUND',
      'TRANSACTION_REFUSED',
    ];
    expect(endpoints.flatMap(madeFor)).toEqual(expect.arrayContaining([...own, 'ANSWER_TOO_LARGE']));
  });

  it('are listed with their status in OpenAPI and docs', () => {
    const page = referencePage(document, 'http://localhost');
    for (const endpoint of endpoints) {
      const operation = document.paths[endpoint.paths[0]]?.[endpoint.verb.toLowerCase()];
      const section = page.split(`<section id="${operation?.operationId}">`)[1]?.split('</section>')[0];
      for (const code of failuresOf(endpoint)) {
        expect(operation?.responses[failures[code].http]?.description).toContain(`${code}: `);
        expect(section).toContain(`${code}: `);
      }
    }
  });

  it('are not declared without a cause', () => {
    const { responses } = document.paths['/sol/v1/wallet/balance']?.get ?? {};
    expect(Object.keys(responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '403',
      '429',
      '500',
      '502',
      '503',
      '504',
    ]);
    const actual = Object.values(responses ?? {})
      .map(({ description }) => description)
      .join();
    expect(actual).not.toMatch(/NOT_FOUND|TRANSACTION|STORAGE/);
  });
});
