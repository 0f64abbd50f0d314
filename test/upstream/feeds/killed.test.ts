import { survive } from './survive.ts';

survive({
  name: 'killed',
  down: (scene, index) => scene.upstreams[index]?.kill(),
  up: (scene, index) => scene.upstreams[index]?.revive(),
});
