//! One answer, two forms.
