import { survive } from './survive.ts';

survive({
  name: 'frozen',
  down: (scene, index) => scene.upstreams[index]?.freeze(),
  up: (scene, index) => scene.upstreams[index]?.thaw(),
});
