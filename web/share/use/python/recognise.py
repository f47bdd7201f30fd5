"""Says what an embedding is: python3 recognise.py example.json"""
import json
import sys
from pathlib import Path

import metaqda

here = Path(__file__).parent
classifier = metaqda.load(here / 'classifier.safetensors')
embedding = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else here / 'example.json').read_text())
probabilities = classifier.predict_proba([embedding])[0]
print(classifier.predict([embedding])[0] or 'None of these')
for label, p in [*zip(classifier.classes_, probabilities), ('None of these', classifier.none_[0])]:
    print(f'{label}: {100 * p:.2f} %')
