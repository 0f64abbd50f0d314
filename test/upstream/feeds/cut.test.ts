import { survive } from './survive.ts';

survive({
  name: 'cut',
  down: (scene, index) => scene.upstreams[index]?.pubsub.cut(),
  up: () => {},
});
