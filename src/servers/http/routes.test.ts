import { describe, expect, it } from 'vitest';
import { findVerbs, type HttpHandler, type HttpRoutes, joinRoutes, pathNotFound } from './routes.ts';

const verbs = (): ReadonlyMap<string, HttpHandler> => new Map([['GET', () => {}]]);
const files = verbs();
const own = verbs();
const routes: HttpRoutes = joinRoutes(new Map([['/ipfs/*', files]]), new Map([['/ipfs/own', own]]));

describe('a path that ends in /*', () => {
  it.each(['/ipfs/a', '/ipfs/*', '/ipfs/%2e%2e', '/ipfs/..'])('stands for %s', (path) => {
    expect(findVerbs(routes, path, 'GET')).toBe(files);
  });

  it.each(['/ipfs', '/ipfs/', '/ipfs/a/b', '/ipfs/a/', '/x/ipfs/a', '/', '', 'ipfs/a', '/ipfsx/a'])(
    'does not stand for %s',
    (path) => {
      expect(findVerbs(routes, path, 'GET')).toBeUndefined();
    },
  );

  it('leaves a path that has handlers of its own to them', () => {
    expect(findVerbs(routes, '/ipfs/own', 'GET')).toBe(own);
  });

  it('is told to whoever asks for a path that nobody answers', () => {
    expect(pathNotFound(routes).facts).toEqual({ paths: '/ipfs/*, /ipfs/own' });
  });
});

describe('a path that ends in /**', () => {
  const api: ReadonlyMap<string, HttpHandler> = new Map([
    ['GET', () => {}],
    ['POST', () => {}],
  ]);
  const pages = verbs();
  const known = joinRoutes(routes, new Map([['/api/**', api]]), new Map([['/**', pages]]));

  it.each(['/api/', '/api/a', '/api/a/b', '/api/a/', '/api//', '/api/**', '/api/%2e%2e/x'])(
    'stands for %s',
    (path) => {
      expect(findVerbs(known, path, 'POST')).toBe(api);
    },
  );

  it.each(['/', '/index.html', '/api', '/apix/a', '/x/api/a', '/ipfs/a/b', '/ipfs/'])(
    'leaves %s to the one that begins with less',
    (path) => {
      expect(findVerbs(known, path, 'GET')).toBe(pages);
    },
  );

  it('leaves other verbs as if there were no such path', () => {
    expect(findVerbs(known, '/nothing', 'POST')).toBeUndefined();
    expect(findVerbs(known, '/api/a', 'PATCH')).toBeUndefined();
  });

  it('knows HEAD where it knows GET', () => {
    expect(findVerbs(known, '/nothing', 'HEAD')).toBe(pages);
  });

  it('stands behind paths that are said whole or by one part', () => {
    expect(findVerbs(known, '/ipfs/own', 'POST')).toBe(own);
    expect(findVerbs(known, '/ipfs/a', 'GET')).toBe(files);
  });

  it('is found at once behind a path of very many parts', () => {
    expect(findVerbs(known, `/api${'/a'.repeat(8_000)}`, 'GET')).toBe(api);
  });
});
