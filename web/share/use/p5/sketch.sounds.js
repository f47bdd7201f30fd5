// Each class has a colour. When the microphone hears a class, the frame takes its colour.
let microphone;
let classifier;
let heard = 'Loading …';
let shade = 'white';

async function setup() {
  createCanvas(640, 480);
  textSize(32);
  textAlign(CENTER);

  const { openClassifier } = await import('./metaqda/index.js');
  const { loadExtractor } = await import('./metaqda/ENTRY.js');
  const extractor = await LOAD; // the network that turns sounds into numbers
  classifier = await openClassifier('session.safetensors', { extractor, prior: 'prior.safetensors' });
  heard = 'Click here to begin';
}

// Browsers start no microphone before a press.
async function mousePressed() {
  if (!classifier || microphone !== undefined) return;
  microphone = null; // it is asked for once
  const { openMicrophone } = await import('./metaqda/ENTRY.js');
  try {
    microphone = await openMicrophone();
    heard = `Let it hear one of: ${classifier.labels.join(', ')}`;
    watch(gotEvent);
  } catch (error) {
    microphone = undefined;
    heard = error.message;
  }
}

// Something came, or has gone. Write here what should happen.
function gotEvent({ label, here, probability }) {
  heard = here ? `${label}, ${round(100 * probability)} %` : '';
  shade = here ? color(`hsl(${(360 * classifier.labels.indexOf(label)) / classifier.labels.length}, 80%, 50%)`) : 'white';
}

function draw() {
  background(shade);
  fill('black');
  text(heard, 20, height / 2, width - 40);
}

// Hears the last second, four times a second. With fewer allowed false events an hour, more is missed.
async function watch(onEvent) {
  const events = classifier.watch({ onEvent, falseEventsPerHour: 10 });
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, 250); });
    events.next(await classifier.predict(microphone.sound()).catch(nothing));
  }
}

// The answer where there is nothing to recognise, such as no speech.
function nothing(error) {
  if (error.code !== 'no-speech') heard = error.message;
  return null;
}
