import { describe, expect, it } from 'vitest';
import { findVerbs, type HttpHandler, type HttpRoutes, joinRoutes, noSuchPath } from './http-route.ts';

const verbs = (): ReadonlyMap<string, HttpHandler> => new Map([['GET', () => {}]]);
const files = verbs();
const own = verbs();
const routes: HttpRoutes = joinRoutes(new Map([['/ipfs/*', files]]), new Map([['/ipfs/own', own]]));

describe('a path that ends in /*', () => {
  it.each(['/ipfs/a', '/ipfs/*', '/ipfs/%2e%2e', '/ipfs/..'])('stands for %s', (path) => {
    expect(findVerbs(routes, path)).toBe(files);
  });

  it.each(['/ipfs', '/ipfs/', '/ipfs/a/b', '/ipfs/a/', '/x/ipfs/a', '/', '', 'ipfs/a', '/ipfsx/a'])(
    'does not stand for %s',
    (path) => {
      expect(findVerbs(routes, path)).toBeUndefined();
    },
  );

  it('leaves a path that has handlers of its own to them', () => {
    expect(findVerbs(routes, '/ipfs/own')).toBe(own);
  });

  it('is told to whoever asks for a path that nobody answers', () => {
    expect(noSuchPath(routes).facts).toEqual({ paths: '/ipfs/*, /ipfs/own' });
  });
});
