// Each class has a colour. When the camera sees a class, the frame takes its colour.
let video;
let classifier;
let seen = 'Loading …';
let shade = 'white';

async function setup() {
  createCanvas(640, 480);
  textAlign(CENTER);
  video = createCapture(VIDEO, { flipped: true });
  video.hide();

  const { openClassifier } = await import('./metaqda/index.js');
  const { loadExtractor } = await import('./metaqda/ENTRY.js');
  const extractor = await LOAD; // the network that turns pictures into numbers
  classifier = await openClassifier('session.safetensors', { extractor, prior: 'prior.safetensors' });
  seen = `Show one of: ${classifier.labels.join(', ')}`;
  watch(gotEvent);
}

// Something came, or has gone. Write here what should happen.
function gotEvent({ label, here, probability }) {
  seen = here ? `${label}, ${round(100 * probability)} %` : '';
  shade = here ? color(`hsl(${(360 * classifier.labels.indexOf(label)) / classifier.labels.length}, 80%, 50%)`) : 'white';
}

function draw() {
  background(shade);
  if (video.loadedmetadata) image(video, 20, 20, width - 40, height - 80);
  fill('black');
  textSize(min(32, 1200 / seen.length)); // many words are small
  text(seen, width / 2, height - 20);
}

// Looks four times a second. If you allow fewer false events an hour, more events are missed.
async function watch(onEvent) {
  const events = classifier.watch({ onEvent, falseEventsPerHour: 10 });
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, 250); });
    if (video.loadedmetadata) events.next(await classifier.predict(video.elt).catch(nothing));
  }
}

// The answer where there is nothing to recognise, such as no hand.
function nothing(error) {
  if (error.code !== 'no-hand') seen = error.message;
  return null;
}
