//! Whether the tables know the language of a text.

use super::Reading;
use crate::guard::lexicon::Role;

impl Reading<'_> {
    /// Letters of the Latin script only, and more words that English has than others.
    pub(super) fn is_covered(&self) -> bool {
        if !self.source.chars().all(is_latin) {
            return false;
        }
        let (mut english, mut foreign, mut all) = (0, 0, 0);
        for token in self.tokens.iter().filter(|token| token.amount.is_none()) {
            all += 1;
            match token.entry {
                Some(entry) if entry.has(Role::Foreign) => {
                    foreign += usize::from(!entry.has(Role::Function));
                }
                Some(_) => english += 1,
                None if !token.name && !self.text(token).is_ascii() => foreign += 1,
                None => {}
            }
        }
        english > 0 && english >= foreign && english * 4 >= all
    }
}

/// Letters of the Latin script, and everything that is no letter.
fn is_latin(c: char) -> bool {
    !c.is_alphabetic()
        || c < '\u{250}'
        || ('\u{1e00}'..'\u{1f00}').contains(&c)
        || matches!(c, 'ʼ' | 'Ω' | 'µ')
}

#[cfg(test)]
mod tests {
    use super::Reading;

    #[test]
    fn texts_in_other_languages_are_not_covered() {
        for text in [
            "Wie kündige ich mein Abo?",
            "¿Cómo cancelo mi pedido?",
            "comment puis-je annuler ma commande",
            "如何取消订单",
            "как отменить заказ",
            "",
        ] {
            assert!(!Reading::new(text).covered, "{text}");
        }
        for text in [
            "How do I cancel?",
            "what does 'wie geht es dir' mean in English",
            "café opening hours",
        ] {
            assert!(Reading::new(text).covered, "{text}");
        }
    }
}
